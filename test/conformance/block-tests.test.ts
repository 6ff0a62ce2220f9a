import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { silentLogger } from '@tandem/base/logger.ts'
import { afterAll, expect, test } from 'vitest'
import type { BlockTest } from '../../devtools/block-test/fixture.ts'
import { runBlockTest } from '../../devtools/block-test/run.ts'
import { SenderRecovery } from '../../src/crypto/recovery/sender-recovery.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { SEED } from '../support/seed.ts'

/*
 * Public blockchain tests as recorded chains: every run takes some, `SEED=7` takes others, `BLOCK_TESTS=all` all that are kept here. All of
 * the suite are run with `tandem blocktest`.
 */

interface Line {
  readonly name: string
  readonly test: BlockTest
}

const TESTS: readonly Line[] = brotliDecompressSync(
  readFileSync(new URL('data/block-tests/tests.jsonl.br', import.meta.url)),
)
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map(line => JSON.parse(line))

const rank = ({ name }: Line): string => createHash('sha256').update(`${SEED}:`).update(name).digest('hex')
const RANKED = TESTS.map(line => ({ line, rank: rank(line) })).sort((a, b) => (a.rank < b.rank ? -1 : 1))
/** As many tests, the same for the same seed. */
const sample = (count: number): readonly Line[] =>
  RANKED.slice(0, process.env['BLOCK_TESTS'] === 'all' ? undefined : count).map(({ line }) => line)

const recovery = new SenderRecovery({ logger: silentLogger })
afterAll(() => recovery.close())

/** Header times from 2^53 seconds on, which this node does not read. */
const BEYOND_TIME = /test_beacon_root_equal_to_timestamp.*timestamp_1844674407370955161[45]/

test.each<[ExecutionMode, number]>([
  ['wasm', 250],
  ['shadow', 60],
])('blocks are executed, or refused for the named reason (%s)', async (mode, count) => {
  const executor = createExecutor({ mode, logger: silentLogger })
  const failed = []
  for (const { name, test: one } of sample(count)) {
    const result = await runBlockTest(name, one, { executor, recovery })
    if (!result.pass && !BEYOND_TIME.test(name)) failed.push(result)
  }
  expect(failed).toEqual([])
})

test('a test that does not hold is told with its reason', async () => {
  const [{ name, test: one }] = TESTS.filter(
    ({ test: { blocks, network } }) =>
      network === 'Osaka' && blocks.every(block => block.expectException === undefined),
  ) as [Line]
  const tools = { executor: createExecutor({ mode: 'wasm', logger: silentLogger }), recovery }
  const reasonOf = async (changes: Partial<BlockTest>) =>
    (await runBlockTest(name, { ...one, ...changes }, tools)).reason
  const last = one.blocks.length
  expect(await reasonOf({})).toBeNull()
  expect(await reasonOf({ network: 'Atlantis' })).toBe('the network Atlantis is not known')
  expect(await reasonOf({ pre: {} })).toContain('genesis 0x')
  expect(await reasonOf({ lastblockhash: one.genesisBlockHeader.hash })).toContain('head 0x')
  const refusing = (expectException: string) =>
    reasonOf({ blocks: one.blocks.map((block, at) => (at === last - 1 ? { ...block, expectException } : block)) })
  expect(await refusing('BlockException.INVALID_GASLIMIT')).toContain('accepted, expected')
  const missing = one.blocks.slice(1)
  const blocks = [...missing, { ...(one.blocks[0] as (typeof one.blocks)[0]), expectException: 'X.Y' }]
  expect(await reasonOf({ blocks: [...one.blocks, ...blocks] })).toContain('expected X.Y')
})
