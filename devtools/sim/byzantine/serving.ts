import type { SealedBlock } from '../../../src/network/messages/consensus-messages.ts'
import { decodeBlock, encodeBlock } from '../../../src/primitives/block.ts'
import { readBlock } from '../network/envelope.ts'
import type { ByzantineNode } from './byzantine-node.ts'
import { forgedCertificate, withOtherBody } from './forgeries.ts'

/** Blocks of an old head beyond that of a member that hears nothing newer. */
const OLD_BLOCKS = 4

/** Blocks by which a Byzantine node may exceed or miss the true head in what it announces. */
const FALSE_HEADS = [0, 0, 1, 5, 1_000, -3]

/** Head that a Byzantine node announces to one that has announced its own: an old one where that one hears only Byzantine nodes. */
export const falseHead = ({ random, options }: ByzantineNode, to: number, toldHead: number, number: number): number =>
  options.isEclipsed(to)
    ? Math.min(number, toldHead + random.below(OLD_BLOCKS))
    : Math.max(0, number + random.pick(FALSE_HEADS))

/** Response of a Byzantine node to a request for blocks, of which it has the true ones; undefined: none. */
export const falseBlocks = (
  byzantineNode: ByzantineNode,
  to: number,
  sealed: readonly SealedBlock[],
): readonly SealedBlock[] | undefined => {
  const { random, options } = byzantineNode
  if (options.isEclipsed(to)) return sealed.slice(0, 1 + random.below(OLD_BLOCKS))
  const last = sealed.at(-1)
  if (last === undefined) return random.pick([undefined, []])
  const at = random.below(sealed.length)
  const { block, certificate } = sealed[at] as SealedBlock
  const { header, hash } = decodeBlock(last.block)
  const height = byzantineNode.heightAt(header.number)
  const swapped = encodeBlock(withOtherBody(byzantineNode, readBlock(block)))
  const forge = (bytes: Uint8Array, blockHash = hash) => [
    ...sealed.slice(0, -1),
    { block: bytes, certificate: forgedCertificate(byzantineNode, header.number, blockHash) },
  ]
  return random.pick<() => readonly SealedBlock[] | undefined>([
    () => sealed,
    () => undefined,
    () => [],
    () => sealed.slice(0, at + 1),
    () => sealed.slice(at),
    () => sealed.with(at, { block: swapped, certificate }),
    () => forge(last.block),
    () => {
      if (height === undefined) return sealed.slice(0, at)
      const own = byzantineNode.makeBlock(height)
      return forge(encodeBlock(own), own.hash)
    },
  ])()
}
