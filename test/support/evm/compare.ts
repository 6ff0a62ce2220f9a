import { isDeepStrictEqual } from 'node:util'
import { bytesToHex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult } from '../../../src/evm/engine.ts'
import { executionRulesAt } from '../../../src/rules/execution-rules.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import type { StateReader } from '../../../src/state/state-reader.ts'
import type { StateChanges } from '../../../src/state/update/state-update.ts'

/** Everything a message did, as text: two engines agree when the texts are equal. */
interface Outcome {
  readonly text: string
  readonly result: EngineResult | undefined
}

const sorted = <Key extends string, Value>(entries: Iterable<readonly [Key, Value]>): (readonly [Key, Value])[] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : 1))

const changesText = ({ accounts, storage, code, cleared }: StateChanges): string =>
  [
    ...sorted(accounts).map(([address, { after }]) =>
      after === undefined ? `${address} gone` : `${address} ${after.nonce} ${after.balance} ${after.codeHash}`,
    ),
    ...sorted(storage).flatMap(([address, slots]) =>
      sorted(slots)
        // The zeros of an account that lost its storage are listed only where they were read.
        .filter(([, { after }]) => after !== ZERO_HASH || cleared?.has(address) !== true)
        .map(([slot, { after }]) => `${address} ${slot} ${after}`),
    ),
    ...sorted([...code.keys()].map(hash => [hash, 0] as const)).map(([hash]) => `code ${hash}`),
    ...[...(cleared ?? [])].sort().map(address => `cleared ${address}`),
  ].join('\n')

/** Result of a message without the state after it. */
export const resultText = ({
  gasUsed,
  refund,
  output,
  logs,
  internal = [],
  created,
  destroyed,
  failure,
}: EngineResult): string =>
  [
    `gas ${gasUsed} refund ${refund} created ${created}`,
    failure === null ? 'succeeded' : failure.kind === 'halt' ? failure.reason.replace(/ at 0x.*/, '') : 'reverted',
    bytesToHex(output),
    `destroyed ${[...destroyed].sort().join()}`,
    ...logs.map(({ address, topics, data }) => `log ${address} ${topics.join()} ${bytesToHex(data)}`),
    ...internal.map(({ kind, from, to, value }) => `${kind} ${from} ${to} ${value}`),
  ].join('\n')

/** Effects of a message as objects; where the engine threw, its message. */
export type Effects =
  | { readonly result: EngineResult; readonly changes: StateChanges }
  | { readonly result: undefined; readonly thrown: string }

/** Runs a message in a journal and what the executor does after one. */
export const effectsIn = async (
  engine: Engine,
  journal: Journal,
  env: BlockEnv,
  message: EngineMessage,
  options: EngineOptions = {},
): Promise<Effects> => {
  try {
    const running = engine.run(journal, env, message, options)
    const result = running instanceof Promise ? await running : running
    for (const address of result.destroyed) journal.deleteAccount(address)
    if (executionRulesAt(env.params, env.number).sweepsEmpty) journal.sweepTouched()
    journal.endTransaction()
    return { result, changes: journal.changes() }
  } catch (error) {
    return { result: undefined, thrown: error instanceof Error ? error.message : JSON.stringify(error) }
  }
}

export const effectsText = (effects: Effects): string =>
  effects.result === undefined
    ? `threw ${effects.thrown}`
    : `${resultText(effects.result)}\n${changesText(effects.changes)}`

/** Equality of what two engines did; as text only where the objects differ, since texts cost more. */
export const sameEffects = (a: Effects, b: Effects): boolean =>
  isDeepStrictEqual(a, b) || effectsText(a) === effectsText(b)

/** Runs a message on a state of its own and what the executor does after one, and tells all that came of it. */
export const outcomeOf = (
  engine: Engine,
  state: StateReader,
  env: BlockEnv,
  message: EngineMessage,
  options: EngineOptions = {},
): Promise<Outcome> => outcomeIn(engine, new Journal(state), env, message, options)

/** The same as the next transaction of a block: the journal keeps the changes. */
export const outcomeIn = async (
  engine: Engine,
  journal: Journal,
  env: BlockEnv,
  message: EngineMessage,
  options: EngineOptions = {},
): Promise<Outcome> => {
  const effects = await effectsIn(engine, journal, env, message, options)
  return { text: effectsText(effects), result: effects.result }
}
