import { hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { DevWriter } from '../../../../src/chain/dev/dev-writer.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { keccak256 } from '../../../../src/crypto/hash.ts'
import { proofHeaderId } from '../../../../src/primitives/proof-header.ts'
import { DevelopmentRules } from '../../../../src/rules/development.ts'
import { devGenesis, withChain } from '../../../support/chain.ts'
import { MINER, OTHER_MINER } from '../../../support/powchain/headers.ts'
import { mineProof, proofGenesis } from '../../../support/powchain/proof-chain.ts'

const genesis = proofGenesis(3, 4, devGenesis())

test('blocks taken back take their proof headers, pending ones and seeds with them', () =>
  withChain(
    async chain => {
      const { store, blocks, world, proofRows, proofPool, sources } = chain
      const onFatal = (error: Error) => expect.unreachable(error.message)
      const writer = await DevWriter.open({
        development: DevelopmentRules.of(devGenesis().params) as DevelopmentRules,
        ...{ chain: chain.chain, store, blocks, world, onFatal },
        logger: silentLogger,
      })
      for (let number = 1; number <= 8; number++) {
        if (number === 2 || number === 4) await mineProof(chain)
        await chain.mine()
      }
      const second = proofRows.byHeight(2)?.header
      const seedBefore = sources.council.seedOf(2)
      await mineProof(chain)
      expect(proofPool.size).toBe(1)
      await writer.edit([{ key: keccak256(hexToBytes(OTHER_MINER)), balance: 1n }], true)
      expect(proofPool.size, 'an edit of the state takes nothing from miners').toBe(1)

      await writer.rewind({ number: 3, edits: 0 })
      expect(proofPool.size).toBe(0)
      expect(proofPool.head).toMatchObject({ number: 3, proofState: { tipHeight: 1, coinbase: MINER } })
      expect(proofRows.byHeight(2)).toBeUndefined()
      expect(second && proofRows.byId(proofHeaderId(second))).toBeUndefined()
      expect((await verifyChain(store, { from: 0 })).problems).toEqual([])

      await mineProof(chain, OTHER_MINER)
      for (let number = 4; number <= 8; number++) await chain.mine()
      expect(proofRows.byHeight(2)).toMatchObject({ includedIn: 4, header: { coinbase: OTHER_MINER } })
      expect(chain.chain.headBlock.header.miner).toBe(OTHER_MINER)
      expect(sources.council.seedOf(2)).not.toBe(seedBefore)

      await writer.rewind({ number: 0, edits: 0 })
      expect(proofPool.head.proofState).toMatchObject({ tipId: ZERO_HASH, coinbase: ZERO_ADDRESS })
      expect(proofRows.byHeight(1)).toBeUndefined()
    },
    { genesis },
  ))
