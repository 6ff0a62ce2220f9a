import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { NodePort, UnionMember } from '../api/api-route.ts'
import type { ContractCall } from '../indexer/token-metadata.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import { undefinedIfRefused } from './network.ts'
import type { NodeClient } from './node-client.ts'
import type { NodeValue } from './node-value.ts'

/** Requests of the explorer to its node besides the chain. */
export const nodePort = (node: NodeClient): NodePort => ({
  gasPriceWei: async () => (await node.call('eth_gasPrice')).quantity(),
  council: async () => {
    const [now, first] = await Promise.all([
      node.call('native_getStakingInfo'),
      node.call('native_getStakingInfo', '0x0').catch(undefinedIfRefused),
    ])
    const founders = new Set(first?.items().map(member => member.member('validator').hex(20)))
    return now.items().map(member => unionMember(member, founders))
  },
  committee: async () => (await node.call('native_getCommittee').catch(undefinedIfRefused))?.hexes(20),
  rpc: request => node.pass(request),
})

const unionMember = (value: NodeValue, founders: ReadonlySet<Hex>): UnionMember => {
  const validator = value.member('validator').hex(20)
  return {
    name: value.member('name').text(),
    validator,
    stakeWei: value.member('stake').quantity(),
    isActive: value.member('status').text() === 'active',
    startBlock: founders.has(validator) ? 0 : undefined,
  }
}

/** Calls of contracts on the head of the node. */
export const nodeCall =
  (node: NodeClient): ContractCall =>
  async (to, data) => {
    const { gas, answerBytes } = EXPLORER_LIMITS.token
    const call = { to, data: bytesToHex(data), gas: toQuantity(gas) }
    const output = (await node.call('eth_call', call, 'latest').catch(undefinedIfRefused))?.bytes()
    return output !== undefined && output.byteLength <= answerBytes ? output : undefined
  }
