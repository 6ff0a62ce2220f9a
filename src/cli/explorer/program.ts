import type { IncomingMessage } from 'node:http'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { ExplorerSettings } from '../../node/parts/pages/explorer-child.ts'

/* The explorer is a package that knows nothing of src, nor src of it but this: a program that is started with options. */

/** Database of the index: a file, or PostgreSQL with a replica that may serve reads. */
export type ExplorerDatabase =
  | { readonly kind: 'sqlite'; readonly path: string; readonly ephemeral: boolean }
  | { readonly kind: 'postgres'; readonly url: string; readonly readUrl?: string | undefined }

/** Options of the explorer. */
export interface ExplorerOptions
  extends Pick<ExplorerSettings, 'nodeUrl' | 'dataDir'>,
    Partial<Omit<ExplorerSettings, 'nodeUrl' | 'dataDir' | 'ephemeral' | 'forwardKey' | 'logLevel'>> {
  /** Public address of the node's JSON-RPC, for wallets; `RPC_PATH` where it is that of the pages. */
  readonly rpcUrl: string | undefined
  readonly database: ExplorerDatabase
  readonly host: string
  readonly port: number
  /** Client of a request, as limits count clients. */
  readonly clientOf: (request: { readonly raw: IncomingMessage }) => string
  readonly version: string
  /** Ends the wait for the node. */
  readonly signal: AbortSignal
  readonly clock: Pick<Clock, 'nowMs'>
  readonly logger: Logger
}

/** An explorer that listens. */
export interface RunningExplorer {
  readonly port: number
  readonly network: { readonly rules: { readonly chainId: number; readonly name: string }; readonly genesisHash: Hex }
  close(): Promise<void>
}

const PROGRAM: string = '@tandem/explorer/service/explorer-process.ts'

/** Starts the explorer in this process. */
export const startExplorer = async (options: ExplorerOptions): Promise<RunningExplorer> => {
  const { startExplorerProcess } = (await import(PROGRAM)) as {
    readonly startExplorerProcess: (options: ExplorerOptions) => Promise<RunningExplorer>
  }
  return startExplorerProcess(options)
}
