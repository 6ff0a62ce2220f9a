import type { IncomingMessage } from 'node:http'
import { join, resolve } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { type Clock, systemClock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { createLogger } from '../../node/logging.ts'
import type { ExplorerSettings } from '../../node/parts/pages/explorer-child.ts'
import { urlHost, version } from '../../node/version.ts'
import { createClients } from '../../rpc/transport/clients/clients.ts'
import { prepareDataDir } from '../shared/files.ts'
import { checkExplorerFiles, type ExplorerFiles, explorerFilesOf } from '../shared/options/explorer-files.ts'
import type { OutputFlags } from '../shared/options/options.ts'
import { type ProxyFlags, trustProxyOf } from '../shared/options/proxy-options.ts'
import { exitWithError } from '../shared/output.ts'
import { nameListenOption } from '../shared/process/free-port.ts'
import { onEnd } from '../shared/process/parent-process.ts'

/* The explorer is a package that knows nothing of src, nor src of it but this: a program that is started with options. */

/** Database of the index: a file, or PostgreSQL with a replica that may serve reads. */
type ExplorerDatabase =
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
  readonly logger: Logger
  /** Prints the first output for a person or a script. */
  readonly announce: (running: RunningExplorer) => void
}

/** An explorer that listens. */
interface RunningExplorer {
  readonly port: number
  readonly network: { readonly rules: { readonly chainId: number; readonly name: string }; readonly genesisHash: Hex }
  close(): Promise<void>
}

const PROGRAM: string = '@tandem/explorer/service/explorer-process.ts'

/** The program, which runs in this process; `signal` ends its wait for the node. */
interface ExplorerProgram {
  startExplorerProcess(
    options: Omit<ExplorerOptions, 'announce'> & {
      readonly version: string
      readonly signal: AbortSignal
      readonly clock: Pick<Clock, 'nowMs'>
    },
  ): Promise<RunningExplorer>
}

/** Parsed options of `tandem explorer`. */
export interface ExplorerFlags extends ProxyFlags, OutputFlags, ExplorerFiles {
  readonly node: string
  readonly rpcUrl?: string
  readonly datadir: string
  readonly database?: string
  readonly databaseRead?: string
  readonly host: string
  readonly port: number
}

/** Serves the explorer until a signal ends it. */
export const runExplorer = async (flags: ExplorerFlags): Promise<void> => {
  await checkExplorerFiles({ ...flags, explorer: true }, 'the explorer')
  const dataDir = resolve(flags.datadir)
  const clients = createClients(trustProxyOf(flags))
  await serveExplorer({
    nodeUrl: flags.node,
    rpcUrl: flags.rpcUrl,
    dataDir,
    database: databaseOf(flags, dataDir),
    host: flags.host,
    port: flags.port,
    ...explorerFilesOf(flags),
    clientOf: ({ raw }) => clients.idOf(raw),
    logger: createLogger({ level: flags.logLevel, format: flags.json ? 'json' : 'pretty' }),
    announce: running => announce(flags, running),
  })
}

/** Serves the explorer until a signal, or the end of the process that started it. */
export const serveExplorer = async ({ announce, ...options }: ExplorerOptions): Promise<void> => {
  const stop = new AbortController()
  let running: RunningExplorer | undefined
  // A second signal ends the process at once.
  const forget = onEnd(() => {
    forget()
    stop.abort()
    setTimeout(() => process.exit(), STOP_MS)
    void (running?.close() ?? Promise.resolve()).catch(exitWithError).finally(() => process.exit())
  })
  try {
    prepareDataDir(options.dataDir)
    const { startExplorerProcess } = (await import(PROGRAM)) as ExplorerProgram
    running = await startExplorerProcess({ ...options, version, signal: stop.signal, clock: systemClock })
  } catch (error) {
    if (stop.signal.aborted) return
    exitWithError(await nameListenOption(error))
    process.exit()
  }
  announce(running)
}

const STOP_MS = 3_000

const databaseOf = ({ database, databaseRead }: ExplorerFlags, dataDir: string): ExplorerDatabase => {
  if (database !== undefined) return { kind: 'postgres', url: database, readUrl: databaseRead }
  if (databaseRead !== undefined) throw new Error('--database-read needs --database.')
  return { kind: 'sqlite', path: join(dataDir, 'index.sqlite'), ephemeral: false }
}

const announce = (
  { json, node, host }: ExplorerFlags,
  { port, network: { rules, genesisHash } }: RunningExplorer,
): void => {
  const url = `http://${urlHost(host)}:${port}`
  const [explorer, pages] = [`${url}/api`, `${url}/explorer`]
  const { chainId, name } = rules
  if (json) {
    process.stdout.write(`${JSON.stringify({ ready: true, explorer, pages, chainId, genesisHash })}\n`)
    return
  }
  process.stdout.write(
    `\nTandem ${version} explorer of ${name}\n\n  Pages       ${pages}\n  API         ${explorer}\n  Node        ${new URL(node).host}\n  Chain id    ${chainId}\n  Genesis     ${genesisHash}\n\nCtrl-C stops it.\n\n`,
  )
}
