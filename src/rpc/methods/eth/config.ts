import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { blobParamsAt, isEvmFork } from '../../../config/forks.ts'
import { type ChainParams, HISTORY_ADDRESS } from '../../../config/networks.ts'
import { createForkFilter } from '../../../network/identity/fork-id.ts'
import { type ExecutionRules, executionRulesAt } from '../../../rules/execution-rules.ts'
import { ADDRESS_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, integers, objectOf, orNull } from '../../codecs/schemas.ts'
import { type MethodTable, method } from '../../router/method.ts'

/** Names of the precompiles by their address (EIP-7910). */
const PRECOMPILE_NAMES: Readonly<Record<number, string>> = {
  1: 'ECREC',
  2: 'SHA256',
  3: 'RIPEMD160',
  4: 'ID',
  5: 'MODEXP',
  6: 'BN254_ADD',
  7: 'BN254_MUL',
  8: 'BN254_PAIRING',
  9: 'BLAKE2F',
  10: 'KZG_POINT_EVALUATION',
  11: 'BLS12_G1ADD',
  12: 'BLS12_G1MSM',
  13: 'BLS12_G2ADD',
  14: 'BLS12_G2MSM',
  15: 'BLS12_PAIRING_CHECK',
  16: 'BLS12_MAP_FP_TO_G1',
  17: 'BLS12_MAP_FP2_TO_G2',
  256: 'P256VERIFY',
}

/** Contracts that blocks call by themselves, by the rule that introduces them. */
const SYSTEM_CONTRACTS: readonly (readonly [string, Hex, (rules: ExecutionRules, params: ChainParams) => boolean])[] = [
  // Without blobs there is no consensus layer either, whose roots, withdrawals and consolidations the others keep.
  ['BEACON_ROOTS_ADDRESS', '0x000f3df6d732807ef1319fb7b8bb8522d0beac02', (_, { blobForks }) => blobForks.length > 0],
  ['HISTORY_STORAGE_ADDRESS', HISTORY_ADDRESS, rules => rules.recordsBlockHashes],
  [
    'WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS',
    '0x00000961ef480eb55e80d19ad83579a64c007002',
    (rules, { blobForks }) => rules.hasRequests && blobForks.length > 0,
  ],
  [
    'CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS',
    '0x0000bbddc7ce488642fb579f8b00f3a590007251',
    (rules, { blobForks }) => rules.hasRequests && blobForks.length > 0,
  ],
]

const NO_BLOBS = { baseFeeUpdateFraction: 0, max: 0, target: 0 }

const blobSchedule = ({ blobForks }: ChainParams, number: number) => {
  const blobs = blobParamsAt(blobForks, number)
  if (blobs === undefined) return NO_BLOBS
  return { baseFeeUpdateFraction: Number(blobs.baseFeeUpdateFraction), max: blobs.max, target: blobs.target }
}

/** Numbers of the blocks at which the EVM's rules or the blobs change, ascending, 0 first. */
const changesOf = ({ forks, blobForks }: ChainParams): readonly number[] => {
  const evm = forks.filter(({ name }) => isEvmFork(name))
  const heights = [...evm, ...blobForks].flatMap(({ height }) => (height === null ? [] : [height]))
  return [...new Set([0, ...heights])].sort((a, b) => a - b)
}

/** Timestamp at which rules begin: 0 for genesis, that of an existing block, else an estimate, since forks come by number. */
const activationTime = async (view: ChainView, number: number): Promise<number> => {
  if (number === 0) return 0
  const head = view.head().header
  if (number > head.number)
    return head.timestamp + Math.ceil(((number - head.number) * view.params.blockTimeMs) / 1_000)
  return (await view.headerByNumber(number))?.timestamp ?? 0
}

const configAt = async (view: ChainView, number: number): Promise<object> => {
  const { params, genesisHash } = view
  const rules = executionRulesAt(params, number)
  const precompiles = [...rules.precompiles].map(address => [PRECOMPILE_NAMES[Number(address)] ?? address, address])
  const contracts = SYSTEM_CONTRACTS.filter(([, , isCalled]) => isCalled(rules, params))
  return {
    activationTime: await activationTime(view, number),
    blobSchedule: blobSchedule(params, number),
    chainId: toQuantity(params.chainId),
    forkId: createForkFilter(genesisHash, params.forks).at(number).hash,
    precompiles: Object.fromEntries(precompiles.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))),
    systemContracts: Object.fromEntries(contracts.map(([name, address]) => [name, address])),
  }
}

const ADDRESSES = { type: 'object', additionalProperties: ADDRESS_SCHEMA }
const CONFIG_SCHEMA = objectOf('ForkConfig', {
  activationTime: INTEGER_SCHEMA,
  blobSchedule: objectOf('BlobSchedule', integers('baseFeeUpdateFraction', 'max', 'target')),
  chainId: QUANTITY_SCHEMA,
  forkId: { type: 'string', pattern: '^0x[0-9a-f]{8}$' },
  precompiles: ADDRESSES,
  systemContracts: ADDRESSES,
})

/** Rules of the EVM in force and to come (EIP-7910). */
export const ethConfig = {
  eth_config: method({
    summary: 'Rules of the EVM at the head, at the next fork and at the last known one (EIP-7910)',
    result: objectOf('ForkConfigs', {
      current: CONFIG_SCHEMA,
      next: orNull(CONFIG_SCHEMA),
      last: orNull(CONFIG_SCHEMA),
    }),
    notes:
      'Forks come by block number: `activationTime` of a coming one is estimated. A chain without blobs has a schedule of zeros.',
    handler: async ({ view }) => {
      const head = view.head().header.number
      const changes = changesOf(view.params)
      const coming = changes.filter(number => number > head)
      const [next, last] = [coming[0], coming.at(-1)]
      return {
        current: await configAt(view, changes.findLast(number => number <= head) ?? 0),
        next: next === undefined ? null : await configAt(view, next),
        last: last === undefined ? null : await configAt(view, last),
      }
    },
  }),
} satisfies MethodTable
