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
import { devMethod, type MethodTable } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { type DevNamespace, devFromContext, emptyResult } from './dev-namespace.ts'

/** Block, fee and chain methods, under `hardhat_` and `anvil_` alike. */
export const blockMethods = (namespace: DevNamespace): MethodTable => ({
  ...chainMethods(namespace),
  ...settingMethods(namespace),
  ...metadataMethods(namespace),
  ...stateMethods(namespace),
})

/** Makes blocks, and goes back to genesis. */
const chainMethods = (namespace: DevNamespace): MethodTable => {
  const { done, result } = emptyResult(namespace)
  return {
    [`${namespace}_mine`]: devMethod({
      summary: 'Makes blocks at once',
      params: [optional(count), optional(seconds)],
      result,
      notes:
        namespace === 'hardhat'
          ? 'By default one. The interval, by default 1, lies between them.'
          : 'By default one. The interval, by default none, lies before each of them.',
      handler: async (context, blocks = 1, interval = undefined) => {
        // An interval of zero follows the clock: blocks mined on request never share a second.
        const between = namespace === 'hardhat' ? (interval ?? 1) : interval
        await devFromContext(context).mine({
          blocks,
          interval: between === 0 ? undefined : between,
          intervalFirst: namespace === 'anvil',
          cancellation: context.cancellation,
        })
        return done
      },
    }),
    [`${namespace}_reset`]: devMethod({
      summary: 'Goes back to genesis: blocks, state, pool, snapshots, time and how blocks are made',
      params: [optional(resetArgs)],
      result,
      handler: async context => {
        await devFromContext(context).reset()
        return done
      },
    }),
  }
}

/** Settings of the next blocks. */
const settingMethods = (namespace: DevNamespace): MethodTable => {
  const { done, result } = emptyResult(namespace)
  return {
    [`${namespace}_setNextBlockBaseFeePerGas`]: devMethod({
      summary: 'Sets the base fee of the next block in wei; later ones follow the rules again',
      params: [amount],
      result,
      handler: (context, baseFee) => {
        devFromContext(context).setNextBaseFee(baseFee)
        return done
      },
    }),
    [`${namespace}_setCoinbase`]: devMethod({
      summary: 'Sets the beneficiary (miner) of the blocks from the next on',
      params: [address],
      result,
      handler: (context, miner) => {
        devFromContext(context).setCoinbase(miner)
        return done
      },
    }),
    [`${namespace}_setLoggingEnabled`]: devMethod({
      summary: 'Accepted and without effect: the log level is chosen at the start',
      params: [enabled],
      result,
      handler: () => done,
    }),
    [`${namespace}_getAutomine`]: devMethod({
      summary: 'Whether each transaction gets a block at once',
      params: [],
      result: BOOLEAN_SCHEMA,
      handler: context => devFromContext(context).mode.automine,
    }),
  }
}

/** Description of the node. */
const metadataMethods = (namespace: DevNamespace): MethodTable => ({
  [`${namespace}_metadata`]: devMethod({
    summary: 'Client version and chain of this node',
    params: [],
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
    params: [],
    result: DATA_SCHEMA,
    handler: async context => bytesToHex(await devFromContext(context).dump('gzip')),
  }),
  [`${namespace}_loadState`]: devMethod({
    summary: 'Puts the accounts of a dumped state, also of one that anvil dumped, in place of the current ones',
    params: [stateBytes],
    result: { const: true },
    handler: async (context, bytes) => {
      await devFromContext(context).load(bytes)
      return true
    },
  }),
})

export const anvilBlocks = {
  anvil_nodeInfo: devMethod({
    summary: 'Head of the chain and settings of its next block',
    params: [],
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
