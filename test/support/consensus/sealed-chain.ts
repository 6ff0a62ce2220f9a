import type { Hex } from '@tandem/base/bytes.ts'
import { certificateFromCommits } from '../../../src/consensus/certificate.ts'
import type { DecidedBlock } from '../../../src/consensus/ports.ts'
import { sign } from '../../../src/crypto/signature.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest, type Commit } from '../../../src/primitives/consensus/vote.ts'
import { quorumOf } from '../../../src/rules/council/quorum.ts'
import { GENESIS_HASH, makeBlock } from './ledger.ts'
import { DOMAIN, keyOf, signerOf } from './member.ts'

/** A committee whose member i is validator `validators[i]`. */
export const committeeFrom = (validators: readonly number[]) => ({
  members: validators.map(validator => signerOf(validator).address),
})

/** The certificate of a block by some of its committee; `as` signs for another key than the one the bitmap will name. */
export const seal = (
  block: Pick<Block, 'hash' | 'header'>,
  validators: readonly number[],
  { round = 0, signers = quorumOf(validators.length), as = (sender: number) => validators[sender] as number } = {},
): Certificate => {
  const unsigned = { type: 'commit', number: block.header.number, round, blockHash: block.hash } as const
  const digest = blockVoteDigest(DOMAIN, unsigned)
  const commits = Array.from(
    { length: signers },
    (_, sender): Commit => ({ ...unsigned, sender, signature: sign(digest, keyOf(as(sender))) }),
  )
  return certificateFromCommits(round, validators.length, commits)
}

/** A chain of empty sealed blocks from 1, each header with the certificate of its parent. */
export const sealedChain = (
  length: number,
  validatorsAt: (number: number) => readonly number[],
  genesisHash: Hex = GENESIS_HASH,
): DecidedBlock[] => {
  const chain: DecidedBlock[] = []
  let parentHash: Hex = genesisHash
  let parentCertificate: Certificate | null = null
  for (let number = 1; number <= length; number++) {
    const validators = validatorsAt(number)
    const proposer = committeeFrom(validators).members[number % validators.length] as Hex
    const block: Block = makeBlock(
      { number, parentHash, timestamp: 1_000 + number },
      proposer,
      parentCertificate,
      number,
    )
    const certificate: Certificate = seal(block, validators, { round: number % 3 })
    chain.push({ block, certificate })
    parentHash = block.hash
    parentCertificate = certificate
  }
  return chain
}
