import type { Hex } from '@tandem/base/bytes.ts'
import type { NodeStatus } from './status.ts'

export type ChaosKind = 'pause' | 'kill' | 'restart'

/** Events of a running localnet, printed as a JSON line or a sentence. */
export type LocalnetEvent =
  | { readonly event: 'started'; readonly node: string; readonly pid: number }
  /** It ended without being stopped. */
  | {
      readonly event: 'died'
      readonly node: string
      readonly code: number | null
      readonly signal: string | null
      readonly log: string
      /** End of the log. */
      readonly lines: readonly string[]
    }
  | { readonly event: 'status'; readonly nodes: readonly NodeStatus[] }
  /** `quarantined`: validators that sign nothing, since they lost their logs, and without which the others decide no block. */
  | { readonly event: 'slow'; readonly seconds: number; readonly quarantined: readonly string[] }
  | {
      readonly event: 'chaos'
      readonly wave: number
      readonly action: ChaosKind
      readonly node: string
      /** Duration of the fault in milliseconds. */
      readonly forMs: number
    }
  | { readonly event: 'resumed'; readonly node: string }
  /** All nodes are in sync again after a wave of chaos. */
  | { readonly event: 'recovered'; readonly wave: number; readonly number: number; readonly ms: number }
  | { readonly event: 'unrecovered'; readonly wave: number; readonly nodes: readonly string[]; readonly ms: number }
  /** Two nodes have different blocks of one number. */
  | {
      readonly event: 'fork'
      readonly number: number
      readonly hashes: readonly { readonly node: string; readonly hash: Hex }[]
    }
  /** All nodes have the awaited block. */
  | { readonly event: 'reached'; readonly number: number; readonly hash: Hex }
  | { readonly event: 'stopping' }
  | { readonly event: 'stopped'; readonly killed: readonly string[] }

/** Returns the text of an event, with newlines only in quoted logs; undefined: nothing to print. */
export const eventText = (event: LocalnetEvent): string | undefined => {
  switch (event.event) {
    case 'started':
      return `${event.node} is back (process ${event.pid})`
    case 'died': {
      const how = event.signal === null ? `with status ${event.code}` : `by ${event.signal}`
      const quoted = event.lines.length === 0 ? ['  (it wrote nothing)'] : event.lines.map(line => `  ${line}`)
      return [`${event.node} ended ${how}. Its log, ${event.log}, ends:`, ...quoted].join('\n')
    }
    case 'slow':
      return slowText(event)
    case 'chaos':
      return `chaos ${event.wave}: ${CHAOS_TEXT[event.action]} ${event.node} for ${seconds(event.forMs)} s`
    case 'resumed':
      return `${event.node} goes on`
    case 'recovered':
      return `chaos ${event.wave}: all nodes in step at block ${event.number}, ${seconds(event.ms)} s after the last came back`
    case 'unrecovered':
      return `chaos ${event.wave}: not in step after ${seconds(event.ms)} s: ${event.nodes.join(', ')}`
    case 'fork': {
      const hashes = event.hashes.map(({ node, hash }) => `  ${node}  ${hash}`)
      return [`FORK at block ${event.number}: nodes have different blocks.`, ...hashes].join('\n')
    }
    case 'reached':
      return `All nodes have block ${event.number}, ${event.hash}`
    case 'stopping':
      return 'Stopping ...'
    case 'stopped':
      return event.killed.length === 0 ? undefined : `Had to be killed: ${event.killed.join(', ')}`
    case 'status':
      return undefined
  }
}

const slowText = ({ seconds, quarantined }: Extract<LocalnetEvent, { event: 'slow' }>): string =>
  quarantined.length === 0
    ? `No block after ${seconds} s: still waiting. See the logs of the nodes.`
    : [
        `No block after ${seconds} s: ${quarantined.join(', ')} lost the logs of what they signed and sign nothing until the others`,
        'have decided later blocks, for which the others are too few. If nothing else signs with their keys, stop the',
        'network and start it once with --trust-missing-log.',
      ].join('\n')

const CHAOS_TEXT: Readonly<Record<ChaosKind, string>> = { pause: 'pausing', kill: 'killing', restart: 'stopping' }

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)
