import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { NodePort, UnionMember } from '../api/api-route.ts'
import type { NodeAnswer } from './node-answer.ts'
import type { NodeClient } from './node-client.ts'

/** Requests of the explorer to its node besides the chain, over JSON-RPC. */
export const remotePort = (node: NodeClient): NodePort => ({
  gasPriceWei: async () => (await node.call('eth_gasPrice')).quantity(),
  council: async () => {
    const [now, first] = await Promise.all([
      node.call('native_getStakingInfo'),
      node.call('native_getStakingInfo', '0x0').catch(undefinedIfRefused),
    ])
    const founders = new Set(first?.items().map(member => member.member('validator').hex(20)))
    return now.items().map(member => unionMember(member, founders))
  },
  committee: number => committeeOf(node, number),
  rpc: request => node.pass(request),
})

const unionMember = (answer: NodeAnswer, founders: ReadonlySet<Hex>): UnionMember => {
  const validator = answer.member('validator').hex(20)
  return {
    name: answer.member('name').text(),
    validator,
    owner: answer.member('owner').hex(20),
    reward: answer.member('reward').hex(20),
    stakeWei: answer.member('stake').quantity(),
    isActive: answer.member('status').text() === 'active',
    startBlock: founders.has(validator) ? 0 : undefined,
  }
}

/** The node answers in the order of proposals, which turns by one with every block. */
const committeeOf = async (node: NodeClient, number: number): Promise<readonly Hex[] | undefined> => {
  const answer = await node.call('native_getCommittee', toQuantity(number)).catch(undefinedIfRefused)
  const members = answer?.items().map(member => member.hex(20))
  if (members === undefined || members.length === 0) return undefined
  const first = members.length - (number % members.length)
  return [...members.slice(first), ...members.slice(0, first)]
}

const undefinedIfRefused = (error: unknown): undefined => {
  if (isCoded(error) && error.code === 'NODE_REFUSED') return undefined
  throw error
}
