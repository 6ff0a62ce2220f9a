import { sign } from '../../../src/crypto/signature.ts'
import { parsePeerUrl } from '../../../src/network/identity/peer-url.ts'
import { cycleOf, firstOfCycle } from '../../../src/rules/council/cycle.ts'
import { membersInCycle } from '../consensus/eligible.ts'
import { type CouncilOfNodes, validatorKey, validatorOf } from '../council-nodes.ts'
import { ByzantineMember } from './byzantine-member.ts'
import type { HostileKey } from './lanes.ts'

const LOOK_MS = 50

/**
 * Key of validator `index` in hostile hands, used against the nodes of all others. Its own node goes on as before, so that what the
 * others lose is the work of the attack and not a seat. `end` stops looking at the head.
 */
export const hostileKey = (council: CouncilOfNodes, index: number): HostileKey & { end(): void } => {
  const size = council.committee.nodes.length
  const { chainId, genesisHash } = council.first.ready
  const key = validatorKey(index)
  const signer = { address: validatorOf(index), sign: (digest: Uint8Array) => sign(digest, key) }
  let head = { number: 0, hash: genesisHash }
  const look = setInterval(async () => {
    const block = await council.first
      .rpc<{ number: string; hash: typeof genesisHash } | null>('eth_getBlockByNumber', 'latest', false)
      .catch(() => null)
    if (block !== null) head = { number: Number(block.number), hash: block.hash }
  }, LOOK_MS)
  look.unref()
  // Each cycle draws another order; who looks at the turn must know it.
  const validators = Array.from({ length: size }, (_, member) => validatorOf(member))
  const { cycleBlocks } = council
  const indexAt = (number: number): number => {
    const cycle = cycleOf(number, cycleBlocks)
    const place = { cycle, first: firstOfCycle(cycle, cycleBlocks) }
    return membersInCycle(validators, genesisHash, place).indexOf(signer.address)
  }
  return {
    get byzantine() {
      return new ByzantineMember(signer, { index: indexAt(head.number + 1), size, domain: { chainId, genesisHash } })
    },
    ports: council.committee.nodes.filter((_, at) => at !== index).map(({ url }) => parsePeerUrl(url).port),
    head: () => head,
    end: () => clearInterval(look),
  }
}
