import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import { createAddress } from '../../src/primitives/receipt/address.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { type CompiledContract, compileSolidity } from '../support/solidity.ts'
import { encodeCall, env, funded, key, signed, TOKEN } from '../unit/evm/world.ts'

/*
 * Gas of common operations (docs/interface.md#limits), to the unit. The token is the one that reproduces the
 * figures (docs/design/evm-rules.md#calldata): optimizer off, recipient and allowance slots fresh.
 */
const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.0;
contract T { string public name="Test Token"; string public symbol="TT"; uint8 public decimals=18; uint256 public totalSupply;
 mapping(address=>uint256) public balanceOf; mapping(address=>mapping(address=>uint256)) public allowance;
 event Transfer(address indexed from,address indexed to,uint256 value); event Approval(address indexed owner,address indexed spender,uint256 value);
 constructor(){ totalSupply=1000000*10**18; balanceOf[msg.sender]=totalSupply; emit Transfer(address(0),msg.sender,totalSupply);}
 function transfer(address to,uint256 value) public returns(bool){ require(balanceOf[msg.sender]>=value,"Insufficient balance"); balanceOf[msg.sender]-=value; balanceOf[to]+=value; emit Transfer(msg.sender,to,value); return true;}
 function approve(address spender,uint256 value) public returns(bool){ allowance[msg.sender][spender]=value; emit Approval(msg.sender,spender,value); return true;} }`

const compiled = (evmVersion: string): CompiledContract =>
  compileSolidity(SOURCE, { optimizer: false, evmVersion })['T'] as CompiledContract

const gasOfOperations = async (mode: 'wasm' | 'ethereumjs', evmVersion: string): Promise<readonly bigint[]> => {
  const owner = key(1)
  const token = createAddress(owner.address, 0)
  const other = key(2).address
  const transactions = [
    signed(owner, { nonce: 0, data: compiled(evmVersion).bytecode, gasLimit: 3_000_000n }),
    signed(owner, { nonce: 1, to: token, data: encodeCall('approve(address,uint256)', other, TOKEN) }),
    signed(owner, { nonce: 2, to: token, data: encodeCall('transfer(address,uint256)', other, TOKEN) }),
    signed(owner, { nonce: 3, to: other, value: TOKEN, gasLimit: 21_000n }),
  ]
  const executor = createExecutor({ mode, logger: silentLogger })
  const { receipts } = await executor.execute(new Journal(funded([owner])), env(), transactions)
  expect(receipts.map(receipt => receipt.status)).toEqual([1, 1, 1, 1])
  return receipts.slice(1).map(receipt => receipt.gasUsed)
}

test.each(['wasm', 'ethereumjs'] as const)(
  'approve, token transfer and native transfer cost what the interface says (%s)',
  async mode => {
    expect(await gasOfOperations(mode, 'paris')).toEqual([52_898n, 58_550n, 21_000n])
  },
)

test('a Cancun build of the same token saves its PUSH0s', async () => {
  expect(await gasOfOperations('wasm', 'cancun')).toEqual([52_878n, 58_520n, 21_000n])
})
