import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { type RunningNode, startDevnet } from '../support/devnet.ts'

const TO: Hex = '0x00000000000000000000000000000000000000aa'
/** Answers CLZ of 1 (EIP-7939): 255. */
const CLZ: Hex = '0x60011e5f5260205ff3'
const P256: Hex = '0x0000000000000000000000000000000000000100'

/** Set-code transaction without authorizations: chain id, nonce, tip, fee cap, gas, recipient, value, data, lists, signature. */
const SET_CODE: Hex = '0x04eb831e80978080850ba43b740082ea609400000000000000000000000000000000000000aa8080c0c0800101'

const withDevnet = async (options: readonly string[], use: (node: RunningNode) => Promise<void>): Promise<void> => {
  const node = await startDevnet(['--block-time', '0', '--unlock', ...options])
  try {
    await use(node)
  } finally {
    await node.stop()
  }
}
const send = async (node: RunningNode, call: object) => {
  const hash = await node.rpc<Hex>('eth_sendTransaction', [{ from: node.accounts[0]?.address, ...call }])
  return node.rpc<{ gasUsed: Hex }>('eth_getTransactionReceipt', [hash])
}

describe('devnet', () => {
  test.each(['wasm', 'shadow'])('--ethereum has the gas that anvil has (%s)', mode =>
    withDevnet(['--ethereum', '--execution', mode], async node => {
      expect(await node.rpc('eth_chainId', [])).toBe('0x7a69')
      const block = (number: string) => node.rpc<Record<string, Hex>>('eth_getBlockByNumber', [number, false])
      expect(await block('0x0')).toMatchObject({ gasLimit: toQuantity(60_000_000), baseFeePerGas: '0x3b9aca00' })
      // 4 and 16 a byte; where nothing runs, the floor of 10 and 40 (EIP-7623).
      expect(await send(node, { to: TO, input: '0x0011' })).toMatchObject({ gasUsed: toQuantity(21_050) })
      // An eighth less after a block that is nearly empty.
      expect(Number((await block('0x1'))['baseFeePerGas'])).toBe(875_000_000)
      const create = { input: `0x6001600081${'5b'.repeat(40)}00` }
      expect(await node.rpc('eth_estimateGas', [create])).toBe((await send(node, create)).gasUsed)
      await expect(send(node, { to: TO, gas: toQuantity(2 ** 24 + 1) })).rejects.toThrow(
        'transaction gas limit too high',
      )
      // An endless loop is estimated within that cap.
      await node.rpc('anvil_setCode', [TO, '0x5b5f56'])
      await expect(node.rpc('eth_estimateGas', [{ to: TO }])).rejects.toThrow(String(2 ** 24))
    }),
  )

  test('--chain-id goes before that of --ethereum', () =>
    withDevnet(['--ethereum', '--chain-id', '77'], async node => {
      expect(await node.rpc('eth_chainId', [])).toBe('0x4d')
    }))

  test.each([
    ['cancun', 'transaction type not supported'],
    ['prague', 'set code tx must have at least one authorization tuple'],
    ['osaka', 'set code tx must have at least one authorization tuple'],
  ])('--hardfork %s', (fork, refusal) =>
    withDevnet(['--hardfork', fork], async node => {
      expect(await node.rpc('native_getParams', ['latest'])).toMatchObject({ evmFork: fork })
      await node.rpc('anvil_setCode', [TO, CLZ])
      const clz = node.rpc('eth_call', [{ to: TO }, 'latest'])
      if (fork === 'osaka') expect(await clz).toBe(`0x${'ff'.padStart(64, '0')}`)
      else await expect(clz).rejects.toThrow('invalid opcode')
      expect(Object.values(await precompilesOf(node)).includes(P256)).toBe(fork === 'osaka')
      await expect(node.rpc('eth_sendRawTransaction', [SET_CODE])).rejects.toThrow(refusal)
    }),
  )
})

const precompilesOf = async (node: RunningNode): Promise<Readonly<Record<string, string>>> =>
  (await node.rpc<{ current: { precompiles: Record<string, string> } }>('eth_config', [])).current.precompiles
