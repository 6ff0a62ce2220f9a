import type { Hex } from '@tandem/base/bytes.ts'

/** Status of a node; null: it did not answer. */
export interface NodeStatus {
  readonly name: string
  readonly role: 'validator' | 'full'
  /** voting, following, syncing, quarantined; or starting, paused, stopped, dead, silent while it does not answer. */
  readonly state: string
  readonly number: number | null
  readonly hash: Hex | null
  readonly round: number | null
  readonly peers: number | null
  /** Blocks behind the highest node, as last known. */
  readonly lag: number
}

/** State of a process. */
export type ProcessState = 'starting' | 'running' | 'paused' | 'stopped' | 'dead'

/** Observation of one node: its process, and the last response of its /health. */
export interface NodeObservation {
  readonly name: string
  readonly isValidator: boolean
  readonly process: ProcessState
  /** The response is current. */
  readonly answers: boolean
  readonly health: Health | undefined
}

/** Displayed members of /health. */
export interface Health {
  readonly number: number
  readonly hash: Hex
  readonly syncing: boolean
  readonly mode: string
  readonly round: number
  readonly peers: number
}

export const statusesFromObservations = (glimpses: readonly NodeObservation[]): readonly NodeStatus[] => {
  const head = Math.max(0, ...glimpses.map(({ health }) => health?.number ?? 0))
  return glimpses.map(({ name, isValidator, process, answers, health }) => {
    const isThere = process === 'running' && answers && health !== undefined
    return {
      name,
      role: isValidator ? 'validator' : 'full',
      state: stateOf(process, isThere ? health : undefined),
      number: health?.number ?? null,
      hash: health?.hash ?? null,
      round: isThere ? health.round : null,
      peers: isThere ? health.peers : null,
      lag: head - (health?.number ?? 0),
    }
  })
}

const stateOf = (process: ProcessState, health: Health | undefined): string => {
  if (process !== 'running') return process
  if (health === undefined) return 'silent'
  return health.syncing ? 'syncing' : health.mode
}

const COLUMNS: readonly (readonly [title: string, width: number, of: (node: NodeStatus) => string])[] = [
  ['node', -14, node => node.name],
  ['role', -10, node => node.role],
  ['state', -12, node => node.state],
  ['height', 9, node => shown(node.number)],
  ['round', 6, node => shown(node.round)],
  ['peers', 6, node => shown(node.peers)],
  ['lag', 6, node => String(node.lag)],
]

/** Returns a header and a line per node, none longer than `width`. */
export const statusTable = (nodes: readonly NodeStatus[], width: number): readonly string[] => {
  const row = (cell: (column: (typeof COLUMNS)[number]) => string): string =>
    COLUMNS.map(column => (column[1] < 0 ? cell(column).padEnd(-column[1]) : cell(column).padStart(column[1])))
      .join('')
      .trimEnd()
      .slice(0, width)
  return [row(([title]) => title), ...nodes.map(node => row(([, , of]) => of(node)))]
}

/** Returns the status in one line, for output that cannot be redrawn. */
export const statusLine = (nodes: readonly NodeStatus[]): string => {
  const head = Math.max(0, ...nodes.map(({ number }) => number ?? 0))
  const round = Math.max(0, ...nodes.map(node => node.round ?? 0))
  const each = nodes.map(({ name, state, peers, lag }) =>
    [name, state, ...(peers === null ? [] : [`${peers} peers`]), ...(lag === 0 ? [] : [`lag ${lag}`])].join(' '),
  )
  return `height ${head}, round ${round}: ${each.join('; ')}`
}

const shown = (value: number | null): string => (value === null ? '-' : String(value))
