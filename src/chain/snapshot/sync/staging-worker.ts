import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { type ChainIdentity, Staging } from './staging.ts'

/* Worker thread that imports a snapshot: hashes every entry of a state and writes it. */
const { storePath, identity } = workerStartData<{ readonly storePath: string; readonly identity: ChainIdentity }>()

export type StagingMethods = Pick<Staging, keyof Staging>

void Staging.open(storePath, identity).then(staging => serveWorker<StagingMethods>(staging))
