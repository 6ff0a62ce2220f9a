import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import type { ApiContext } from '@tandem/explorer/api/api-route.ts'
import { proxyTarget } from '@tandem/explorer/verification/proxies.ts'
import { expect, test, vi } from 'vitest'
import { createAddress } from '../../../../src/primitives/receipt/address.ts'
import { senderOn } from '../../../support/explorer/token-chain.ts'
import { withApi } from '../api-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

const TARGET: Hex = '0x00000000000000000000000000000000000000fe'
const SLOTS = {
  'EIP-1967': '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  'EIP-1822': '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
  'EIP-1967 beacon': '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
} as const

/** Init code that stores a word in a slot, and makes a contract of one byte. */
const storing = (slot: Hex, word: Hex): Uint8Array =>
  concatBytes(...['0x7f', word, '0x7f', slot, '0x55', '0x60015ff3'].map(part => hexToBytes(part as Hex)))
/** Init code that returns some code: PUSH1 size, DUP1, PUSH1 offset, PUSH0, CODECOPY, PUSH0, RETURN. */
const returning = (code: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(0x60, code.length, 0x80, 0x60, 0x09, 0x5f, 0x39, 0x5f, 0xf3), code)

test('proxies are recognised by their code or their storage', () =>
  withApi(async ({ chain, context, mine }) => {
    const sender = senderOn(chain, 2)
    let nonce = 0
    const create = async (data: Uint8Array): Promise<Hex> => {
      await sender.submit({ to: null, data })
      await mine()
      return createAddress(sender.address, nonce++)
    }
    const word = toWord(BigInt(TARGET))
    const minimal = concatBytes(
      hexToBytes('0x363d3d373d3d3d363d73'),
      hexToBytes(TARGET),
      hexToBytes('0x5af43d82803e903d91602b57fd5bf3'),
    )
    expect(await proxyTarget(context, await create(returning(minimal)))).toEqual({
      kind: 'EIP-1167',
      implementation: TARGET,
    })
    for (const kind of ['EIP-1967', 'EIP-1822'] as const)
      expect(await proxyTarget(context, await create(storing(SLOTS[kind], word)))).toEqual({
        kind,
        implementation: TARGET,
      })
    // A word that is no address names nothing, and a contract without any of these is no proxy.
    expect(await proxyTarget(context, await create(storing(SLOTS['EIP-1967'], `0x${'11'.repeat(32)}`)))).toBeUndefined()
    expect(await proxyTarget(context, await create(returning(Uint8Array.of(0))))).toBeUndefined()
    expect(await proxyTarget(context, TARGET)).toBeUndefined()
  }))

test('a beacon is asked for the implementation, and may answer anything', () =>
  withApi(async ({ chain, context, mine }) => {
    const sender = senderOn(chain, 2)
    await sender.submit({ to: null, data: storing(SLOTS['EIP-1967 beacon'], toWord(0xbeacn)) })
    await mine()
    const proxy = createAddress(sender.address, 0)
    const asking = (result: unknown): ApiContext => ({
      ...context,
      node: {
        ...context.node,
        rpc: async request => {
          const { method, params } = JSON.parse(request) as { method: string; params: [{ to: string; data: string }] }
          expect([method, BigInt(params[0].to), params[0].data]).toEqual(['eth_call', 0xbeacn, '0x5c60da1b'])
          return JSON.stringify({ jsonrpc: '2.0', id: 1, result })
        },
      },
    })
    const found = (result: unknown) => proxyTarget(asking(result), proxy)
    expect(await found(toWord(BigInt(TARGET)))).toEqual({ kind: 'EIP-1967 beacon', implementation: TARGET })
    for (const strange of ['0x', `0x${'ff'.repeat(32)}`, null, 7, undefined])
      expect(await found(strange), String(strange)).toEqual({ kind: 'EIP-1967 beacon', implementation: null })
  }))
