/**
 * Makes test/conformance/data/state-tests/tests.jsonl.br from the public state tests: `node scripts/state-test-data.ts FOLDER`,
 * where FOLDER holds eest, static, legacy and constantinople (README.md beside the data). Of each file its first test and a part of
 * the others are taken, by the hash of their names, so that two runs choose alike; what no run needs is left out.
 */
import { createHash } from 'node:crypto'
import { packTests } from './pack-tests.ts'

/** Tests kept of every hundred beyond the first of a file. */
const KEPT_PERCENT = 45
/** Tests of up to two seconds: twenty of them take as long as all the others. */
const HEAVY = /ContractCreationSpam|LoopCalls|Call(?:code)?1024|recursiveCreateReturnValue/i

interface StateTest {
  readonly env: unknown
  readonly pre: unknown
  readonly transaction: unknown
  readonly config?: { readonly blobSchedule?: unknown }
  readonly post: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}

const isKept = (id: string): boolean => createHash('sha256').update(id).digest().readUInt32LE(0) % 100 < KEPT_PERCENT

const slim = ({ env, pre, transaction, config, post }: StateTest): StateTest => ({
  env,
  pre,
  transaction,
  ...(config?.blobSchedule !== undefined && { config: { blobSchedule: config.blobSchedule } }),
  post: Object.fromEntries(
    Object.entries(post).map(([fork, entries]) => [fork, entries.map(({ state: _, ...entry }) => entry)]),
  ),
})

packTests<StateTest>('state-test-data.ts', 'state-tests/tests.jsonl.br', (file, tests) =>
  HEAVY.test(file)
    ? []
    : tests
        .filter(([name, test], place) => test.post !== undefined && (place === 0 || isKept(`${file}::${name}`)))
        .map(([name, test]) => ({ file, name, test: slim(test) })),
)
