import { join, resolve } from 'node:path'
import { systemClock } from '@tandem/base/clock.ts'
import { createLogger } from '../../node/logging.ts'
import { urlHost, version } from '../../node/version.ts'
import { ClientAddress } from '../../rpc/transport/clients/client-address.ts'
import { clientIdOf } from '../../rpc/transport/clients/clients.ts'
import { prepareDataDir } from '../shared/check-paths.ts'
import { checkExplorerFiles, type ExplorerFiles } from '../shared/options/explorer-files.ts'
import type { OutputFlags } from '../shared/options/options.ts'
import type { ProxyFlags } from '../shared/options/proxy-options.ts'
import { exitWithError } from '../shared/output.ts'
import { nameListenOption } from '../shared/process/free-port.ts'
import { onParentExit } from '../shared/process/parent-process.ts'
import { type ExplorerDatabase, type ExplorerOptions, type RunningExplorer, startExplorer } from './program.ts'

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
  checkExplorerFiles({ ...flags, explorer: true }, 'the explorer')
  const dataDir = resolve(flags.datadir)
  const addresses =
    flags.trustProxy === undefined
      ? undefined
      : new ClientAddress({ proxies: flags.trustProxy, header: flags.proxyHeader })
  await serveExplorer({
    nodeUrl: flags.node,
    rpcUrl: flags.rpcUrl,
    dataDir,
    database: databaseOf(flags, dataDir),
    host: flags.host,
    port: flags.port,
    keysFile: flags.explorerKeys,
    labelsFile: flags.explorerLabels,
    priceFile: flags.explorerPrice,
    solcDirectory: flags.solcDir,
    clientOf: ({ raw }) => clientIdOf(addresses?.of(raw) ?? raw.socket.remoteAddress),
    logger: createLogger({ level: flags.logLevel, format: flags.json ? 'json' : 'pretty' }),
    announce: running => announce(flags, running),
  })
}

interface ServeOptions extends Omit<ExplorerOptions, 'version' | 'signal' | 'clock'> {
  /** Prints the first output for a person or a script. */
  readonly announce: (running: RunningExplorer) => void
}

/** Serves the explorer until a signal, or the end of the process that started it. */
export const serveExplorer = async ({ announce, ...options }: ServeOptions): Promise<void> => {
  const stop = new AbortController()
  let running: RunningExplorer | undefined
  const end = (): void => {
    stop.abort()
    setTimeout(() => process.exit(), STOP_MS)
    void (running?.close() ?? Promise.resolve()).catch(exitWithError).finally(() => process.exit())
  }
  onParentExit(end)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  try {
    await prepareDataDir(options.dataDir)
    running = await startExplorer({ ...options, version, signal: stop.signal, clock: systemClock })
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
