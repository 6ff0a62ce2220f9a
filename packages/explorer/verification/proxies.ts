import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { ApiContext } from '../api/api-route.ts'
import { callWord } from '../chain/node-rpc.ts'

type ProxyKind = 'EIP-7702' | 'EIP-1167' | 'EIP-1967' | 'EIP-1967 beacon' | 'EIP-1822' | 'OpenZeppelin'

interface ProxyTarget {
  readonly kind: ProxyKind
  /** null: the beacon answers with none. */
  readonly implementation: Hex | null
}

/** Slots that hold the address of the implementation. */
const SLOTS: readonly (readonly [ProxyKind, Hex])[] = [
  ['EIP-1967', '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'],
  ['EIP-1822', '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7'],
  ['OpenZeppelin', '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3'],
]
const BEACON_SLOT: Hex = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'
const IMPLEMENTATION_CALL: Hex = '0x5c60da1b'

const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/

/** Implementation of a minimal proxy (EIP-1167), from its code. */
const minimalProxyTarget = (code: Uint8Array): Hex | undefined => {
  const address = MINIMAL_PROXY.exec(bytesToHex(code.subarray(0, 64)))?.[1]
  return address === undefined ? undefined : `0x${address}`
}

const DELEGATION = /^0xef0100([0-9a-f]{40})$/

/** Address whose code an account runs, from the account's own; undefined: it delegates to none (EIP-7702). */
export const delegationTarget = (code: Uint8Array): Hex | undefined => {
  const address = DELEGATION.exec(bytesToHex(code.subarray(0, 24)))?.[1]
  return address === undefined ? undefined : `0x${address}`
}

/** Target of a proxy, recognised by its code or its storage; undefined: it is none that is known. */
export const proxyTarget = async ({ source, node }: ApiContext, address: Hex): Promise<ProxyTarget | undefined> => {
  const { state } = source
  const code = await state.code(address)
  if (code.length === 0) return undefined
  const delegate = delegationTarget(code)
  if (delegate !== undefined) return { kind: 'EIP-7702', implementation: delegate }
  const minimal = minimalProxyTarget(code)
  if (minimal !== undefined) return { kind: 'EIP-1167', implementation: minimal }
  for (const [kind, slot] of SLOTS) {
    const implementation = addressIn(await state.storage(address, slot))
    if (implementation !== undefined) return { kind, implementation }
  }
  const beacon = addressIn(await state.storage(address, BEACON_SLOT))
  if (beacon === undefined) return undefined
  const word = await callWord(node, beacon, IMPLEMENTATION_CALL, '0x186a0')
  return { kind: 'EIP-1967 beacon', implementation: (word && addressIn(word)) ?? null }
}

const addressIn = (word: Hex): Hex | undefined =>
  word === ZERO_HASH || !word.startsWith(`0x${'00'.repeat(12)}`) ? undefined : `0x${word.slice(26)}`
