import type { IncomingMessage } from 'node:http'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'

/* The explorer is a package that knows nothing of src, nor src of it but this: a program that is started with options. */

/** Database of the index: a file, or PostgreSQL with a replica that may serve reads. */
export type ExplorerDatabase =
  | { readonly kind: 'sqlite'; readonly path: string; readonly ephemeral: boolean }
  | { readonly kind: 'postgres'; readonly url: string; readonly readUrl?: string | undefined }

/** Options of the explorer. */
export interface ExplorerOptions {
  /** ws:// or wss:// */
  readonly nodeUrl: string
  /** Public address of the node's JSON-RPC, for wallets; `RPC_PATH` where it is that of the pages. */
  readonly rpcUrl: string | undefined
  /** Returns true when the faucet has pages at the same address. */
  readonly hasFaucet?: boolean
  /** Methods of the node that are switched off for the public, which the explorer passes on to nobody. */
  readonly disabledMethods?: readonly string[]
  /** Namespaces of the node's public port; left out: any. */
  readonly publicNamespaces?: readonly string[]
  readonly dataDir: string
  readonly database: ExplorerDatabase
  readonly host: string
  readonly port: number
  readonly keysFile: string | undefined
  readonly labelsFile: string | undefined
  readonly priceFile: string | undefined
  readonly solcDirectory: string | undefined
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
