import type { Hex } from '@tandem/base/bytes.ts'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { rpc } from '../../devnet.ts'
import { receiptOf, signerOf } from '../../load.ts'
import type { Ready } from '../../node-process.ts'
import type { Target } from './scene.ts'

/** Logs `size` bytes without a topic `times` times, and ends without code. */
const logging = (times: number, size: number): Uint8Array => {
  const word = (value: number) => value.toString(16).padStart(6, '0')
  // times; JUMPDEST; LOG0(0, size); times - 1; again while it is not 0
  return hexToBytes(`0x62${word(times)}5b62${word(size)}5fa060019003806004575f5ff3`)
}

/** [times, bytes each]: many small logs, a few large ones, and as much as one transaction may. */
const LOADS = [
  [9_000, 0],
  [9_000, 100],
  [40, 100_000],
  [100, 100_000],
] as const

/** A chain on which asking is dear: creations that log thousands of times, or megabytes. */
export const layMines = async (ready: Ready): Promise<Target> => {
  const logged: Hex[] = []
  const loggers: Hex[] = []
  let lastBlock = 0
  for (const [index, [times, size]] of LOADS.entries()) {
    const account = ready.accounts[index]
    if (account === undefined) throw new Error('a chain with funded accounts')
    const signed = signerOf(account.privateKey, ready.chainId)
    const { raw, hash } = signed({ nonce: 0, to: null, data: logging(times, size), gasLimit: 110_000_000n })
    await rpc(ready.http, 'eth_sendRawTransaction', [raw])
    const receipt = await receiptOf<{ contractAddress: Hex; status: Hex; blockNumber: Hex }>(ready.http, hash)
    if (receipt.status !== '0x1') throw new Error(`${times} logs of ${size} bytes failed`)
    logged.push(hash)
    loggers.push(receipt.contractAddress)
    lastBlock = Number(receipt.blockNumber)
  }
  const { hostname, port } = new URL(ready.http)
  return { host: hostname, port: Number(port), wsPath: new URL(ready.ws).pathname, logged, loggers, lastBlock }
}
