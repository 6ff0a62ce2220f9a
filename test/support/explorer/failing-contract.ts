import { hexToBytes } from '@tandem/base/bytes.ts'
import { encodeErrorResult, parseAbi } from 'viem'
import { compileSolidity } from '../solidity.ts'

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Failing {
  error TooMuch(uint256 wanted, string unit);
  error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
  function text() external pure { revert("no beans left"); }
  function long() external pure {
    bytes memory all = new bytes(100000);
    for (uint256 at; at < 1200; at++) all[at] = "L";
    revert(string(all));
  }
  function panic() external pure returns (uint256) { uint256 zero; return 1 / zero; }
  function custom() external pure { revert TooMuch(5, "beans"); }
  function common() external pure { revert ERC20InsufficientBalance(address(1), 2, 3); }
  function silent() external pure { revert(); }
  function three() external pure { assembly { mstore(0, not(0)) revert(0, 3) } }
  function endless() external pure { while (true) {} }
}
`

export const FAILING_ABI = parseAbi(['error TooMuch(uint256 wanted, string unit)'])

let compiled: Uint8Array | undefined
export const failingContract = (): Uint8Array => {
  compiled ??= compileSolidity(SOURCE)['Failing']?.bytecode as Uint8Array
  return compiled
}

/** A revert with a text. */
export const revertWith = (text: string): { readonly error: string; readonly output: Uint8Array } => {
  const output = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: [text] })
  return { error: 'execution reverted', output: hexToBytes(output) }
}
