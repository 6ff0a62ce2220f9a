import type { Hex } from '@tandem/base/bytes.ts'
import { parseGenesis } from '../../src/config/genesis/genesis.ts'
import { genesisText } from '../../src/config/genesis/genesis-text.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import type { Block } from '../../src/primitives/block.ts'
import { type Certificate, certificateFromSigners } from '../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest } from '../../src/primitives/consensus/vote.ts'
import { quorumOf } from '../../src/rules/council/quorum.ts'
import { keyOf, type TestChain } from '../../test/support/chain.ts'

const VALIDATOR_KEYS = [201, 202, 203, 204].map(keyOf)
/** Keys of 200 accounts with money. */
export const SENDER_KEYS = Array.from({ length: 200 }, (_, index) => keyOf(index))
/** Text of a genesis file with a council of four. */
export const GENESIS = genesisText({
  network: 'devnet',
  timestamp: 1_735_689_600,
  council: VALIDATOR_KEYS.map((key, index) => ({
    name: `Validator ${index}`,
    validator: addressFromPrivateKey(key),
    owner: addressFromPrivateKey(key),
    reward: addressFromPrivateKey(key),
    stakeWei: 35n * 10n ** 18n,
  })),
  foundation: addressFromPrivateKey(VALIDATOR_KEYS[0] as Uint8Array),
  balances: new Map(SENDER_KEYS.map(key => [addressFromPrivateKey(key), 10n ** 24n])),
  blockTimeMs: 1_000,
})
/** Parsed form of `GENESIS`. */
export const genesis = parseGenesis(GENESIS)

/** Certificate of a block by the first members that make a quorum. */
const certificateBy = (chain: TestChain, block: Block, members: readonly Hex[]): Certificate => {
  const vote = { type: 'commit', number: block.header.number, round: 0, blockHash: block.hash } as const
  const digest = blockVoteDigest({ chainId: genesis.params.chainId, genesisHash: chain.genesisHash }, vote)
  const seals = members.slice(0, quorumOf(members.length)).map((member, index): [number, Uint8Array] => {
    const key = VALIDATOR_KEYS.find(candidate => addressFromPrivateKey(candidate) === member)
    return [index, sign(digest, key as Uint8Array)]
  })
  return certificateFromSigners(0, members.length, new Map(seals))
}

/** Makes the next block of such a chain from its pool, with a certificate, and commits it. */
export const decideNext = async (chain: TestChain): Promise<readonly [Block, Certificate]> => {
  const number = chain.chain.head().number + 1
  const members = chain.sources.council.committee(number)?.members as readonly Hex[]
  const block = await chain.build(members[number % members.length])
  const certificate = certificateBy(chain, block, members)
  await chain.chain.commit(block, certificate)
  return [block, certificate]
}
