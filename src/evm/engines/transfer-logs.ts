import { copyBytes, type Hex, hexToBytes, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Log } from '../../primitives/receipt/log.ts'

/* Transfers of wei as Transfer logs (ERC-7528), before those of the receiving frame; a failing frame drops its logs. */

/** Address of ERC-7528. Code may log from there as well. */
const NATIVE_TOKEN: Hex = `0x${'ee'.repeat(20)}`
/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const addressTopic = (address: Hex): Hex => `${ZERO_HASH.slice(0, 26)}${address.slice(2)}` as Hex

export const transferLogOf = (from: Hex, to: Hex, wei: bigint): Log => ({
  address: NATIVE_TOKEN,
  topics: [TRANSFER, addressTopic(from), addressTopic(to)],
  data: copyBytes(hexToBytes(toWord(wei))),
})
