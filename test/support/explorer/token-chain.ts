import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { Indexer, type IndexerState } from '@tandem/explorer/indexer/indexer.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { ACCOUNT_KEYS, ACCOUNTS, signedRaw, type TestChain } from '../chain.ts'
import { compileSolidity } from '../solidity.ts'
import { localCall } from './source/local-calls.ts'
import { LocalChain } from './source/local-chain.ts'
import { localRules } from './source/local-rules.ts'

export const TOKEN_SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Coin {
  string public name = "Green Bean"; string public symbol = "BEAN"; uint8 public decimals = 6;
  uint256 public totalSupply; mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  constructor() { mint(msg.sender, 1000e6); }
  function mint(address to, uint256 value) public { totalSupply += value; balanceOf[to] += value; emit Transfer(address(0), to, value); }
  function transfer(address to, uint256 value) external returns (bool) {
    balanceOf[msg.sender] -= value; balanceOf[to] += value; emit Transfer(msg.sender, to, value); return true;
  }
}
contract Hostile {
  event Transfer(address indexed from, address indexed to, uint256 value);
  fallback() external { while (true) {} }
  function transfer(address to, uint256 value) external { emit Transfer(msg.sender, to, value); }
}
contract Wrapped {
  uint8 public decimals = 18; uint256 public totalSupply; mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  function deposit() external payable { totalSupply += msg.value; balanceOf[msg.sender] += msg.value; }
  function withdraw(uint256 value) external { totalSupply -= value; balanceOf[msg.sender] -= value; payable(msg.sender).transfer(value); }
  function transfer(address to, uint256 value) external returns (bool) {
    balanceOf[msg.sender] -= value; balanceOf[to] += value; emit Transfer(msg.sender, to, value); return true;
  }
}
contract Factory {
  function make() external { new Coin(); }
}
contract Long {
  event Transfer(address indexed from, address indexed to, uint256 value);
  function name() external pure returns (string memory) {
    bytes memory text = new bytes(100000);
    assembly {
      for { let at := 32 } lt(at, 100032) { at := add(at, 32) } {
        mstore(add(text, at), 0x7878787878787878787878787878787878787878787878787878787878787878)
      }
    }
    return string(text);
  }
  function symbol() external pure returns (string memory) {
    bytes memory text = new bytes(2000);
    for (uint256 at; at < 2000; at++) text[at] = "S";
    return string(text);
  }
  function transfer(address to, uint256 value) external { emit Transfer(msg.sender, to, value); }
}
contract Purse {
  function pass(address payable to) external payable { (bool sent, ) = to.call{value: msg.value}(""); require(sent); }
  function fail(address payable to) external payable { this.pass{value: msg.value}(to); revert("no"); }
  function close(address payable to) external payable { selfdestruct(to); }
}
`

let compiled: ReturnType<typeof compileSolidity> | undefined
export const tokenContracts = () => {
  compiled ??= compileSolidity(TOKEN_SOURCE)
  return compiled
}

export const transferData = (to: Hex, amount: bigint): Uint8Array =>
  concatBytes(hexToBytes('0xa9059cbb'), hexToBytes(toWord(BigInt(to))), hexToBytes(toWord(amount)))

/** A sender on a test chain that counts its nonces. */
export const senderOn = (chain: TestChain, account = 0) => {
  let nonce = 0
  const submit = async (fields: Partial<UnsignedTransaction>): Promise<Hex> =>
    chain.pool.service.submit(
      signedRaw(ACCOUNT_KEYS[account] as Uint8Array, { gasLimit: 3_000_000n, nonce: nonce++, ...fields }),
    )
  /** A contract, in a block of its own. */
  const deployCode = async (data: Uint8Array): Promise<Hex> => {
    const address = createAddress(ACCOUNTS[account] as Hex, nonce)
    await submit({ to: null, data })
    await chain.mine()
    return address
  }
  return {
    address: ACCOUNTS[account] as Hex,
    submit,
    deployCode,
    /** One of `tokenContracts`. */
    deploy: (name: string): Promise<Hex> => deployCode(tokenContracts()[name]?.bytecode as Uint8Array),
  }
}

/** Reads of a test chain's database, as an explorer has them of its node. */
export const localChainOf = (chain: Pick<TestChain, 'store' | 'genesis'> & Partial<Pick<TestChain, 'sources'>>) =>
  new LocalChain({
    store: chain.store,
    params: chain.genesis.params,
    rules: localRules(chain.genesis),
    committee: async number => chain.sources?.council.committee(number)?.members,
  })

/** An indexer over a test chain, in this thread. */
export const indexerOf = (
  chain: TestChain,
  index: SqlIndex = new SqlIndex(new SqliteDatabase({ path: ':memory:' })),
  batchBlocks?: number,
) => {
  const source = localChainOf(chain)
  const indexer = new Indexer({
    source,
    call: localCall(source),
    index,
    logger: silentLogger,
    nowMs: () => performance.now(),
    ...(batchBlocks !== undefined && { batchBlocks }),
  })
  return {
    source,
    index,
    indexer,
    async catchUp(): Promise<void> {
      let state: IndexerState = 'behind'
      while (state === 'behind') state = await indexer.step()
    },
  }
}
