/**
 * Makes test/conformance/data/block-tests/tests.jsonl.br from public blockchain tests: `node scripts/block-test-data.ts FOLDER` (README.md
 * beside the data). Of each file the first test of each network and of each refusal is taken, without what no run needs.
 */
import type { BlockTest } from '../devtools/block-test/fixture.ts'
import { packTests } from './pack-tests.ts'

/** Bytes of a test; the few larger ones would be most of the file. */
const LARGEST = 24_000

const slim = ({ network, genesisBlockHeader, pre, blocks, lastblockhash, config }: BlockTest): BlockTest => ({
  network,
  genesisBlockHeader,
  pre,
  blocks: blocks.map(({ rlp, expectException }) => ({
    rlp,
    ...(expectException !== undefined && { expectException }),
  })),
  lastblockhash,
  ...(config && { config }),
})

packTests<BlockTest>('block-test-data.ts', 'block-tests/tests.jsonl.br', (_, tests) => {
  const taken = new Set<string>()
  return tests
    .map(([name, test]) => ({ name, test: slim(test) }))
    .filter(one => {
      const refusals = one.test.blocks.map(({ expectException = '' }) => expectException)
      const kind = `${one.test.network} ${refusals.find(reason => reason !== '') ?? ''}`
      return JSON.stringify(one).length <= LARGEST && !taken.has(kind) && taken.add(kind)
    })
})
