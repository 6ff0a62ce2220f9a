import { existsSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { createRandom } from '@tandem/base/random.ts'
import { ATTACKS, type AttackName } from '../../test/support/hostile/clients/attacks.ts'
import type { Target } from '../../test/support/hostile/clients/scene.ts'

/*
 * The attackers, in a process of their own. A message begins or ends an attack, or asks for the report. Argument: AttackersOptions as JSON.
 */
export interface AttackersOptions {
  readonly target: Target
  readonly seed: number
  /** Addresses they come from. */
  readonly clients: number
  /** They take only the processor time that others leave. */
  readonly areLast: boolean
}

export type ToAttackers = { readonly begin: AttackName } | { readonly end: AttackName } | 'report'

export interface AttackersReport {
  /** Outcomes by attack and kind. */
  readonly did: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Processor time used, ms. */
  readonly cpuMs: number
}

const { target, seed, clients, areLast } = JSON.parse(process.argv[2] ?? '') as AttackersOptions
const random = createRandom(seed)
const counts = new Map<AttackName, Map<string, number>>()
const running = new Map<AttackName, AbortController>()

const LOWEST_PRIORITY = 19
/** Linux shares processors between sessions first; this process began its own. */
const SESSION = '/proc/self/autogroup'
if (areLast) {
  setPriority(LOWEST_PRIORITY)
  if (existsSync(SESSION)) writeFileSync(SESSION, String(LOWEST_PRIORITY))
}

const begin = async (name: AttackName): Promise<void> => {
  const own = counts.get(name) ?? new Map<string, number>()
  counts.set(name, own)
  const turn = new AbortController()
  running.set(name, turn)
  const from = () => `127.1.0.${1 + random.below(clients)}`
  await ATTACKS[name]({ target, random, signal: turn.signal, from, rounds: Number.POSITIVE_INFINITY, counts: own })
}

const report = (): AttackersReport => {
  const { user, system } = process.cpuUsage()
  const did = Object.fromEntries([...counts].map(([name, own]) => [name, Object.fromEntries(own)]))
  return { did, cpuMs: (user + system) / 1_000 }
}

process.on('message', (message: ToAttackers) => {
  if (message === 'report') process.send?.(report())
  else if ('begin' in message) void begin(message.begin)
  else running.get(message.end)?.abort()
})
process.once('disconnect', () => process.exit())
