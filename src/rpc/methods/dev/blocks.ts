import { bytesToHex, toQuantity } from '@tandem/base/bytes.ts'
import { evmForkAt } from '../../../config/forks.ts'
import { suggestedGasPrice } from '../../../rules/money/base-fee.ts'
import { amount, count, enabled, resetArgs, seconds, stateBytes } from '../../codecs/dev.ts'
import { address, BOOLEAN_SCHEMA, DATA_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import {
  hashes,
  INTEGER_SCHEMA,
  integers,
  NULL_SCHEMA,
  objectOf,
  quantities,
  STRING_SCHEMA,
  strings,
} from '../../codecs/schemas.ts'
import type { MethodTable } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { COMMANDS, type DevNamespace, devMethod, trueCommand } from './dev-method.ts'

/** Block, fee and chain methods, under `hardhat_` and `anvil_` alike. */
export const blockMethods = (namespace: DevNamespace): MethodTable => ({
  ...chainMethods(namespace),
  ...metadataMethods(namespace),
  ...stateMethods(namespace),
})

/** Makes blocks, goes back to genesis, and has the settings of the next blocks. */
const chainMethods = (namespace: DevNamespace): MethodTable => {
  const command = COMMANDS[namespace]
  return {
    [`${namespace}_mine`]: command({
      summary: 'Makes blocks at once',
      params: [optional(count), optional(seconds)],
      notes:
        namespace === 'hardhat'
          ? 'By default one. The interval, by default 1, lies between them.'
          : 'By default one. The interval, by default none, lies before each of them.',
      handler: ({ dev, cancellation }, blocks = 1, interval = namespace === 'hardhat' ? 1 : undefined) =>
        // An interval of zero follows the clock: blocks mined on request never share a second.
        dev.mine({ blocks, interval: interval || undefined, intervalFirst: namespace === 'anvil', cancellation }),
    }),
    [`${namespace}_reset`]: command({
      summary: 'Goes back to genesis: blocks, state, pool, snapshots, time and how blocks are made',
      params: [optional(resetArgs)],
      handler: ({ dev }) => dev.reset(),
    }),
    [`${namespace}_setNextBlockBaseFeePerGas`]: command({
      summary: 'Sets the base fee of the next block in wei; later ones follow the rules again',
      params: [amount],
      handler: ({ dev }, baseFee) => dev.setNextBaseFee(baseFee),
    }),
    [`${namespace}_setCoinbase`]: command({
      summary: 'Sets the beneficiary (miner) of the blocks from the next on',
      params: [address],
      handler: ({ dev }, miner) => dev.setCoinbase(miner),
    }),
    [`${namespace}_setLoggingEnabled`]: command({
      summary: 'Accepted and without effect: the log level is chosen at the start',
      params: [enabled],
      handler: () => undefined,
    }),
    [`${namespace}_getAutomine`]: devMethod({
      summary: 'Whether each transaction gets a block at once',
      result: BOOLEAN_SCHEMA,
      handler: ({ dev }) => dev.mode.automine,
    }),
  }
}

/** Description of the node. */
const metadataMethods = (namespace: DevNamespace): MethodTable => ({
  [`${namespace}_metadata`]: devMethod({
    summary: 'Client version and chain of this node',
    result: objectOf('DevMetadata', {
      clientVersion: STRING_SCHEMA,
      ...integers('chainId', 'latestBlockNumber'),
      ...hashes('instanceId', 'latestBlockHash'),
    }),
    handler: ({ view, info }) => ({
      clientVersion: info.clientVersion,
      chainId: view.params.chainId,
      instanceId: view.genesisHash,
      latestBlockNumber: view.head().header.number,
      latestBlockHash: view.head().hash,
    }),
  }),
})

/** The whole state as one value. */
const stateMethods = (namespace: DevNamespace): MethodTable => ({
  [`${namespace}_dumpState`]: devMethod({
    summary: 'The state at the head as one value (gzip of JSON), for loadState here and of anvil',
    result: DATA_SCHEMA,
    handler: async ({ dev }) => bytesToHex(await dev.dump('gzip')),
  }),
  [`${namespace}_loadState`]: trueCommand({
    summary: 'Puts the accounts of a dumped state, also of one that anvil dumped, in place of the current ones',
    params: [stateBytes],
    handler: ({ dev }, bytes) => dev.load(bytes),
  }),
})

export const anvilBlocks = {
  anvil_nodeInfo: devMethod({
    summary: 'Head of the chain and settings of its next block',
    result: objectOf('NodeInfo', {
      currentBlockNumber: QUANTITY_SCHEMA,
      currentBlockTimestamp: INTEGER_SCHEMA,
      currentBlockHash: HASH_SCHEMA,
      ...strings('hardFork', 'transactionOrder'),
      environment: objectOf('NodeEnvironment', {
        ...quantities('baseFee', 'gasLimit', 'gasPrice'),
        chainId: INTEGER_SCHEMA,
      }),
      forkConfig: objectOf('NodeForkConfig', {
        forkUrl: NULL_SCHEMA,
        forkBlockNumber: NULL_SCHEMA,
        forkRetryBackoff: NULL_SCHEMA,
      }),
    }),
    handler: ({ view }) => {
      const { header, hash } = view.head()
      return {
        currentBlockNumber: toQuantity(header.number),
        currentBlockTimestamp: header.timestamp,
        currentBlockHash: hash,
        hardFork: evmForkAt(view.params.forks, header.number + 1),
        transactionOrder: 'fees',
        environment: {
          baseFee: toQuantity(view.nextBaseFee()),
          chainId: view.params.chainId,
          gasLimit: toQuantity(header.gasLimit),
          gasPrice: toQuantity(suggestedGasPrice(view.nextBaseFee(), view.params.baseFee)),
        },
        // This chain is not a fork of another one.
        forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
      }
    },
  }),
} satisfies MethodTable
