import { globSync, readFileSync } from 'node:fs'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { Committee, NodeOfMany } from '../../test/support/committee.ts'
import { signerOf } from '../../test/support/load.ts'
import { eventually, sleep } from '../../test/support/node-process.ts'
import { print, quantileOf } from './figures.ts'

/** Transactions one after the other, each at an idle committee. */
const TRANSACTIONS = 4
const IDLE_MS = 2_000
const GAS_PRICE = 1_000n * 10n ** 9n

/** Processor time of all threads of a node so far, ms (Linux): the load of the machine does not count. */
const cpuMsOf = ({ pid }: NodeOfMany): number =>
  globSync(`/proc/${pid}/task/*/schedstat`).reduce(
    (sum, file) => sum + Number(readFileSync(file, 'latin1').split(' ')[0]) / 1_000_000,
    0,
  )

/** Milliseconds from sending a transaction to its receipt, at the same node. */
const timeToReceipt = async (node: NodeOfMany, raw: Hex): Promise<number> => {
  const startedMs = performance.now()
  const hash = await node.rpc<Hex>('eth_sendRawTransaction', raw)
  while ((await node.rpc('eth_getTransactionReceipt', hash)) === null) await sleep(2)
  return Math.round(performance.now() - startedMs)
}

/**
 * Time from a transaction to its receipt with a block time of 0: the first one after the processes started, and those after it. All nodes
 * are started again for each run. Medians of all runs, and each first one.
 */
export const instant = async (committee: Committee, runs: number, labels: object): Promise<boolean> => {
  const privateKey = bytesToHex(committee.funded)
  const times: number[][] = Array.from({ length: TRANSACTIONS }, () => [])
  /** Processor time of all nodes together for each. */
  const cpu: number[][] = Array.from({ length: TRANSACTIONS }, () => [])
  const cpuMs = (): number => Math.round(committee.nodes.reduce((sum, node) => sum + cpuMsOf(node), 0))
  let nonce = 0
  for (let run = 0; run < runs; run++) {
    if (run > 0) {
      await Promise.all(committee.nodes.map(node => node.stop()))
      await committee.start()
    }
    const [node] = committee.nodes as [NodeOfMany]
    await eventually('all peers', async () => {
      const counts = await Promise.all(committee.nodes.map(each => each.rpc<Hex>('net_peerCount')))
      return counts.every(count => Number(count) === committee.nodes.length - 1) || undefined
    })
    const signed = signerOf(privateKey, node.ready.chainId)
    for (const [index, list] of times.entries()) {
      await sleep(IDLE_MS)
      const { raw } = signed({ nonce: nonce++, value: 1n, maxFeePerGas: GAS_PRICE })
      const startedMs = cpuMs()
      list.push(await timeToReceipt(node, raw))
      cpu[index]?.push(cpuMs() - startedMs)
    }
  }
  const mediansOf = (lists: readonly number[][]) => lists.map(values => quantileOf(values, 0.5))
  print('receipt', { ...labels, unit: 'ms', medians: mediansOf(times), cpuMs: mediansOf(cpu), firsts: times[0] })
  return true
}
