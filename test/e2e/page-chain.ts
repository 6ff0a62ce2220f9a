import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { createAddress } from '../../src/primitives/receipt/address.ts'
import type { UnsignedTransaction } from '../../src/primitives/transaction/transaction-encoding.ts'
import { signedRaw } from '../support/chain.ts'
import { eventually, type RunningNode } from '../support/devnet.ts'
import { TOKEN_SOURCE, tokenContracts, transferData } from '../support/explorer/token-chain.ts'
import { compileSolidity } from '../support/solidity.ts'

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Evil {
  string public name = "<script>alert(1)</script>\\u202Emoc.elgoog"; string public symbol = "<img src=x onerror=alert(1)>";
  uint8 public decimals = 255; uint256 public totalSupply = type(uint256).max;
  event Transfer(address indexed from, address indexed to, uint256 value);
  constructor() { emit Transfer(address(0), msg.sender, 5); }
  function transfer(address, uint256) external pure { revert("<b onclick=x>no</b>\\u202E"); }
}
`

/** What the chain of the pages' tests holds. */
export interface PageChain {
  readonly coin: Hex
  readonly evil: Hex
  readonly tokenTransfer: Hex
  readonly plain: Hex
  readonly failed: Hex
  readonly creation: Hex
}

type Node = Pick<RunningNode, 'rpc' | 'accounts' | 'chainId' | 'http'>

/** Fills a devnet with tokens, transfers, a failed call and names of an attacker, and verifies a token by its API. */
export const fillPageChain = async (
  node: Node & Pick<RunningNode, 'http'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageChain> => {
  const filled = await fillTokenChain(node)
  await verifyCoin(node, filled.coin, headers)
  return filled
}

/** The same without a verified contract. */
export const fillTokenChain = async (node: Node): Promise<PageChain> => {
  const [alice, bob] = node.accounts as readonly [Node['accounts'][number], Node['accounts'][number]]
  let nonce = 0
  const submit = (fields: Partial<UnsignedTransaction>): Promise<Hex> =>
    node.rpc('eth_sendRawTransaction', [
      bytesToHex(
        signedRaw(hexToBytes(alice.privateKey), {
          chainId: node.chainId,
          gasLimit: 3_000_000n,
          nonce: nonce++,
          ...fields,
        }),
      ),
    ])
  const address = (): Hex => createAddress(alice.address.toLowerCase() as Hex, nonce)
  const to = bob.address.toLowerCase() as Hex
  const coin = address()
  const creation = await submit({ to: null, data: tokenContracts()['Coin']?.bytecode as Uint8Array })
  const evil = address()
  await submit({ to: null, data: compileSolidity(SOURCE)['Evil']?.bytecode as Uint8Array })
  const tokenTransfer = await submit({ to: coin, data: transferData(to, 250_500_000n) })
  const plain = await submit({ to, value: 1_234_567_890_000_000_000n, gasLimit: 21_000n })
  const failed = await submit({ to: evil, data: transferData(to, 1n) })
  await submit({
    to: coin,
    data: concatBytes(hexToBytes('0x40c10f19'), hexToBytes(toWord(BigInt(to))), hexToBytes(toWord(7n))),
  })
  await eventually(
    'the receipt of the last transaction',
    () => node.rpc<object | null>('eth_getTransactionReceipt', [failed]),
    receipt => receipt !== null,
  )
  return { coin, evil, tokenTransfer, plain, failed, creation }
}

/** Settings with which the tests compile. */
const SETTINGS = { optimizer: { enabled: true, runs: 200 }, evmVersion: 'cancun' }
const COMPILER = '0.8.37+commit.f401782d'

/** Verifies the token by the API, as a tool does. */
const verifyCoin = async (
  { http }: Pick<RunningNode, 'http'>,
  coin: Hex,
  headers: Readonly<Record<string, string>>,
) => {
  const input = { language: 'Solidity', sources: { 'Test.sol': { content: TOKEN_SOURCE } }, settings: SETTINGS }
  const submitted = await eventually(
    'the submission',
    () =>
      fetch(`${http}/api/contracts/${coin}/verify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ compilerVersion: COMPILER, contract: 'Test.sol:Coin', input }),
      }),
    // The index may not have the block yet.
    ({ status }) => status !== 503,
  )
  const { job } = (await submitted.json()) as { readonly job: string }
  await eventually(
    'the verification',
    async () =>
      (await (await fetch(`${http}/api/verifications/${job}`, { headers })).json()) as { isFinished: boolean },
    ({ isFinished }) => isFinished,
  )
}

/** Every page of a node, by a name for its pictures. */
export const pagePaths = (chain: PageChain, holder: string, miner: string): Readonly<Record<string, string>> => ({
  node: '/',
  home: '/explorer',
  blocks: '/explorer/blocks',
  block: '/explorer/block/1',
  'block-transactions': '/explorer/block/1?tab=transactions',
  'block-consensus': '/explorer/block/1?tab=consensus',
  genesis: '/explorer/block/0',
  transactions: '/explorer/txs',
  transaction: `/explorer/tx/${chain.tokenTransfer}`,
  'transaction-logs': `/explorer/tx/${chain.tokenTransfer}?tab=logs`,
  'transaction-calls': `/explorer/tx/${chain.tokenTransfer}?tab=calls`,
  'transaction-failed': `/explorer/tx/${chain.failed}`,
  'transaction-creation': `/explorer/tx/${chain.creation}`,
  address: `/explorer/address/${holder}`,
  'address-transfers': `/explorer/address/${holder}?tab=transfers`,
  'address-internal': `/explorer/address/${holder}?tab=internal`,
  'address-blocks': `/explorer/address/${miner}?tab=blocks&role=miner`,
  'address-tokens': `/explorer/address/${holder}?tab=tokens`,
  contract: `/explorer/address/${chain.coin}?tab=contract`,
  'contract-unverified': `/explorer/address/${chain.evil}?tab=contract`,
  'contract-read': `/explorer/address/${chain.coin}?tab=read&f=0x70a08231&a0=${holder}`,
  'contract-write': `/explorer/address/${chain.coin}?tab=write&f=0xa9059cbb&a0=${holder}&a1=1`,
  verify: '/explorer/verify',
  faucet: '/faucet',
  accounts: '/explorer/accounts',
  tokens: '/explorer/tokens',
  token: `/explorer/token/${chain.coin}`,
  'token-holders': `/explorer/token/${chain.coin}?tab=holders`,
  'token-contract': `/explorer/token/${chain.coin}?tab=contract`,
  'token-evil': `/explorer/token/${chain.evil}`,
  search: '/explorer/search?q=green',
  'search-nothing': '/explorer/search?q=nothing+of+that+name',
  validators: '/explorer/validators',
  mining: '/explorer/mining',
  supply: '/explorer/supply',
  stats: '/explorer/stats',
  gas: '/explorer/gas',
  network: '/explorer/network',
  api: '/explorer/api',
  'not-found': '/explorer/nowhere',
})
