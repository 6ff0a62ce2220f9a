import { rm } from 'node:fs/promises'
import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import type { HistoryRange, HistoryTip } from '../backfill/history-rows.ts'
import { type ChainIdentity, type GenesisRows, Staging } from './staging.ts'

/* Worker thread that imports a snapshot: hashes every entry of a state and writes it. */
const { storePath, identity } = workerStartData<{ readonly storePath: string; readonly identity: ChainIdentity }>()
let staging: Staging

const methods = {
  progress: () => staging.progress(),
  begin: (manifest: Uint8Array, genesis: GenesisRows) => staging.begin(manifest, genesis),
  import: (index: number, chunk: Uint8Array) => staging.import(index, chunk),
  recordsFault: () => staging.recordsFault(),
  certificateFault: (certificate: Certificate) => staging.certificateFault(certificate),
  hasTrueStorages: () => staging.hasTrueStorages(),
  missingCodes: (after: Uint8Array | null, limit: number) => staging.missingCodes(after, limit),
  putCodes: (hashes: Parameters<Staging['putCodes']>[0], codes: readonly Uint8Array[]) =>
    staging.putCodes(hashes, codes),
  putBlocks: (range: HistoryRange, tip: HistoryTip) => staging.putBlocks(range, tip),
  finish: (burntWei: bigint) => staging.finish(burntWei),
  /** Deletes this snapshot completely, before another one is imported. */
  reset: async () => {
    await staging.close()
    await rm(storePath, { recursive: true, force: true })
    await open()
  },
  close: () => staging.close(),
}
export type StagingMethods = typeof methods

const open = async (): Promise<void> => {
  staging = await Staging.open(storePath, identity)
}

void open().then(() => serveWorker<StagingMethods>(methods))
