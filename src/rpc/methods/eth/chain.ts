import { toQuantity } from '@tandem/base/bytes.ts'
import { blobParamsAt } from '../../../config/forks.ts'
import { suggestedGasPrice } from '../../../rules/money/base-fee.ts'
import { blobBaseFee } from '../../../rules/money/blob-fee.ts'
import { ADDRESS_SCHEMA, BOOLEAN_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { listOf, objectOf, SYNC_SCHEMA } from '../../codecs/schemas.ts'
import { encodeSyncStatus } from '../../encode/block.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'

const coinbase = method({
  summary: "Address of the node's operator, different per node",
  result: ADDRESS_SCHEMA,
  notes: 'The address of `--coinbase`, else of the validator key, else that of the key of the node itself: never zero.',
  handler: ({ info }) => info.coinbase,
})

/** Price of blob gas at the head; 0 on a chain without blobs, as BLOBBASEFEE is. */
const blobBaseFeeAtHead = ({ view }: Context): bigint => {
  const { number, excessBlobGas } = view.head().header
  const blobs = blobParamsAt(view.params.blobForks, number)
  return blobs === undefined || excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, blobs)
}

const RESOURCES = ['state', 'tx', 'logs', 'receipts', 'blocks', 'stateproofs'] as const
const RESOURCE_SCHEMA = objectOf('Capability', { disabled: BOOLEAN_SCHEMA, oldestBlock: QUANTITY_SCHEMA })

/** Methods about the chain and the node. */
export const ethChain = {
  eth_chainId: method({
    summary: 'Chain id',
    result: QUANTITY_SCHEMA,
    handler: ({ view }) => toQuantity(view.params.chainId),
  }),
  eth_blockNumber: method({
    summary: 'Number of the latest block',
    result: QUANTITY_SCHEMA,
    handler: ({ view }) => toQuantity(view.head().header.number),
  }),
  eth_syncing: method({
    summary: 'false when in sync, else the progress of the sync',
    result: SYNC_SCHEMA,
    handler: ({ view }) => {
      const status = view.syncing()
      return status === false ? false : encodeSyncStatus(status)
    },
  }),
  eth_coinbase: coinbase,
  eth_etherbase: { ...coinbase, notes: 'Same as eth_coinbase.' },
  eth_accounts: method({
    summary: 'Accounts whose keys the node holds; none on a public endpoint',
    result: listOf(ADDRESS_SCHEMA),
    handler: ({ wallet }) => wallet.accounts(),
  }),
  eth_mining: method({
    summary: "Whether the node's own miner is running",
    result: BOOLEAN_SCHEMA,
    handler: ({ mining }) => mining?.running() ?? false,
  }),
  eth_hashrate: method({
    summary: 'Hashes per second of the miner and of those who submit work',
    result: QUANTITY_SCHEMA,
    handler: ({ mining }) => toQuantity(mining?.hashrate() ?? 0n),
  }),
  eth_gasPrice: method({
    summary: 'Gas price to offer, wei',
    result: QUANTITY_SCHEMA,
    notes: 'The base fee of the next block and ten percent, at most the ceiling.',
    handler: ({ view }) => toQuantity(suggestedGasPrice(view.nextBaseFee(), view.params.baseFee)),
  }),
  eth_baseFee: method({
    summary: 'Base fee of the next block, wei',
    result: QUANTITY_SCHEMA,
    handler: ({ view }) => toQuantity(view.nextBaseFee()),
  }),
  eth_capabilities: method({
    summary: 'Head, and the oldest blocks and states that this node has',
    result: objectOf('Capabilities', {
      head: objectOf('CapabilitiesHead', { number: QUANTITY_SCHEMA, hash: HASH_SCHEMA }),
      ...Object.fromEntries(RESOURCES.map(name => [name, RESOURCE_SCHEMA])),
    }),
    notes: 'A node that began with a snapshot fetches older blocks, so that theirs goes down. Genesis is always there.',
    handler: ({ view }) => {
      const { header, hash } = view.head()
      const blocks = { disabled: false, oldestBlock: toQuantity(view.earliest()) }
      const states = { disabled: false, oldestBlock: toQuantity(view.oldestState()) }
      return {
        head: { number: toQuantity(header.number), hash },
        ...Object.fromEntries(RESOURCES.map(name => [name, name.startsWith('state') ? states : blocks])),
      }
    },
  }),
  eth_maxPriorityFeePerGas: method({
    summary: 'Tip to offer, wei: always 0x0',
    result: QUANTITY_SCHEMA,
    handler: () => '0x0',
  }),
  eth_blobBaseFee: method({
    summary: 'Price of blob gas, wei: 0x0, since the chain has no blobs',
    result: QUANTITY_SCHEMA,
    notes: 'A recorded chain (tandem fixture) may have blobs.',
    handler: context => toQuantity(blobBaseFeeAtHead(context)),
  }),
  eth_lowerBoundGasPrice: method({
    summary: 'Floor of the gas price, wei',
    result: QUANTITY_SCHEMA,
    handler: ({ view }) => toQuantity(view.params.baseFee.lowerBoundWei),
  }),
  eth_upperBoundGasPrice: method({
    summary: 'Ceiling of the gas price, wei',
    result: QUANTITY_SCHEMA,
    handler: ({ view }) => toQuantity(view.params.baseFee.upperBoundWei),
  }),
} satisfies MethodTable
