import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import type { NodeFlags } from '../shared/options/options.ts'

/** Parsed options of `tandem localnet`. */
export interface LocalnetFlags
  extends Pick<
    NodeFlags,
    'host' | 'port' | 'execution' | 'stateHistory' | 'cors' | 'allowHosts' | 'logLevel' | 'json'
  > {
  readonly validators?: number
  readonly full: number
  readonly blockTime?: number
  readonly accounts?: number
  readonly balance?: bigint
  readonly mnemonic?: string
  readonly chainId?: number
  readonly datadir?: string
  readonly metrics: boolean
  readonly mine?: Hex
  readonly stratum: boolean
  readonly trustMissingLog: boolean
  readonly chaos: boolean
  readonly seed?: number
  readonly chaosDown?: number
  readonly untilBlock?: number
}

/** Plan of one node of a localnet, before anything runs. */
export interface NodePlan {
  readonly name: string
  readonly isValidator: boolean
  /** Data folder, with its keys and its log. */
  readonly folder: string
}

export interface NodePorts {
  /** HTTP and WebSocket. */
  readonly http: number
  readonly operator: number
  readonly p2p: number
  readonly metrics: number
  readonly stratum: number
}

export const keyFileOf = ({ folder }: NodePlan): string => join(folder, 'validator.key')
export const logFileOf = ({ folder }: NodePlan): string => join(folder, 'node.log')

/** Names: validator-1, validator-2 and so on, then full-1 and so on. */
export const planNodes = (validators: number, full: number, dir: string): readonly NodePlan[] => {
  const row = (role: string, count: number): readonly NodePlan[] =>
    Array.from({ length: count }, (_, index) => {
      const name = `${role}-${index + 1}`
      return { name, isValidator: role === 'validator', folder: join(dir, name) }
    })
  return [...row('validator', validators), ...row('full', full)]
}

/** Assigns ten ports to each node from `base` on: HTTP and WebSocket, operator, metrics, peers, Stratum. Throws when they do not fit. */
export const portsFrom = (base: number, count: number): readonly NodePorts[] => {
  const { portsPerNode } = LOCALNET_LIMITS
  const last = base + portsPerNode * count - 1
  if (last > 65_535) throw new Error(`--port ${base}: ${count} nodes take the ports up to ${last}, beyond 65535.`)
  return Array.from({ length: count }, (_, index) => {
    const http = base + portsPerNode * index
    return { http, operator: http + 1, metrics: http + 2, p2p: http + 3, stratum: http + 4 }
  })
}

const FIRST_VALIDATOR = 'validator-1'
/** Share of a thread's time that the miner of a localnet takes. */
const MINE_DUTY = '0.25'

/** Flags that nodes get. */
export type NodeArgs = Omit<LocalnetFlags, 'port' | 'json' | 'full' | 'chaos'>

/** Arguments of a node; `peers` are the URLs of all others. */
export const startArgs = (
  node: NodePlan,
  { http, operator, metrics, p2p, stratum }: NodePorts,
  { genesis, peers, flags }: { readonly genesis: string; readonly peers: readonly string[]; readonly flags: NodeArgs },
): readonly string[] => [
  ...['start', '--network', 'devnet', '--genesis', genesis, '--datadir', node.folder],
  ...(node.isValidator ? ['--validator-key', keyFileOf(node)] : []),
  ...['--host', flags.host, '--port', String(http), '--operator-port', String(operator)],
  ...['--p2p-host', '127.0.0.1', '--p2p-port', String(p2p), '--no-discovery'],
  ...(peers.length === 0 ? [] : ['--peers', peers.join(',')]),
  ...(flags.mine !== undefined && node.name === FIRST_VALIDATOR
    ? ['--mine', '--mine-coinbase', flags.mine, '--mine-duty', MINE_DUTY]
    : []),
  ...(flags.stratum ? ['--stratum', String(stratum)] : []),
  ...(flags.trustMissingLog ? ['--trust-missing-log'] : []),
  ...(flags.metrics ? ['--metrics-port', String(metrics)] : []),
  ...['--execution', flags.execution, '--state-history', String(flags.stateHistory), '--log-level', flags.logLevel],
  ...['--cors', (flags.cors ?? ['localhost']).join(',')],
  ...(flags.allowHosts === undefined ? [] : ['--allow-hosts', flags.allowHosts.join(',')]),
  '--json',
]
