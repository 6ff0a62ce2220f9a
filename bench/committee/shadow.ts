import { bytesToHex, concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { createAddress } from '../../src/primitives/receipt/address.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import { createRandom, randomTransactions, setUpZoo } from '../../test/property/executor-plans.ts'
import { type Committee, keyOf, type NodeOfMany } from '../../test/support/committee.ts'
import { signerOf } from '../../test/support/load.ts'
import { eventually, sleep } from '../../test/support/node-process.ts'
import { scrape } from '../../test/support/scrape.ts'
import { deployer, TOKEN } from '../../test/unit/evm/world.ts'
import { forkOf, print } from './figures.ts'

const GAS_PRICE = 1_000n * 10n ** 9n
const PAUSE_MS = 5
/** As many rounds of arithmetic, hashes and jumps as the input says; the result is stored. */
const LOOP = '5f355b8060051b5f5260205f205f35026020526001900380600257506020515f5500'
const LOOP_ROUNDS = 4_000
const LOOP_GAS = 2_000_000n
/** Of the random transactions, one in so many is followed by a call of the loop. */
const LOOP_EVERY = 4

/** Sends until it is taken, and answers whether it was. */
const send = async (node: NodeOfMany, raw: string): Promise<boolean> => {
  try {
    await node.rpc('eth_sendRawTransaction', raw)
    return true
  } catch {
    return false
  }
}

/** Mixed transactions, one node in shadow mode: true where it had no difference and all nodes have the same blocks. */
export const shadow = async (committee: Committee, seconds: number, seed: number, labels: object): Promise<boolean> => {
  const nodes = committee.nodes
  const [first] = nodes as [NodeOfMany]
  await Promise.all(
    nodes.map(node => node.start(committee.others(node), ['--execution', node === first ? 'shadow' : 'wasm'])),
  )
  await first.reach(1)
  const { world, deploys } = await setUpZoo(createRandom(seed))
  const payer = signerOf(bytesToHex(keyOf('funded')), first.ready.chainId)
  let nonce = 0
  const pay = async (fields: object): Promise<string> => {
    const { raw, hash } = payer({ nonce: nonce++, maxFeePerGas: GAS_PRICE, ...fields })
    if (!(await send(first, raw))) throw new Error('the payer is refused')
    return hash
  }
  const receipt = (hash: string) =>
    eventually(hash, async () => (await first.rpc<object | null>('eth_getTransactionReceipt', hash)) ?? undefined)
  const owners = [...new Set([...world.keys.map(({ address }) => address), (deploys[0] as Transaction).from])]
  for (const to of owners) await pay({ to, value: 20_000n * TOKEN })
  const loop = createAddress(payer({ nonce: 0 }).from, nonce)
  await receipt(await pay({ to: null, data: deployer(hexToBytes(`0x${LOOP}`)), gasLimit: 1_000_000n }))
  for (const { raw } of deploys) if (!(await send(first, bytesToHex(raw)))) throw new Error('a contract is refused')
  await receipt((deploys.at(-1) as Transaction).hash)

  const nonces = new Map<Transaction['from'], number>()
  const counts = { sent: 0, refused: 0, loops: 0 }
  const endMs = performance.now() + seconds * 1_000
  for (let at = 0; performance.now() < endMs; at++) {
    const [tx] = randomTransactions(world, nonces, 1) as [Transaction]
    if (await send(nodes[at % nodes.length] as NodeOfMany, bytesToHex(tx.raw))) counts.sent++
    else {
      counts.refused++
      // No nonce may be missing.
      nonces.set(tx.from, (nonces.get(tx.from) ?? 1) - 1)
    }
    if (at % LOOP_EVERY === 0) {
      counts.loops++
      const data = concatBytes(hexToBytes(toWord(BigInt(LOOP_ROUNDS))), hexToBytes(toWord(BigInt(at))))
      await pay({ to: loop, data, gasLimit: LOOP_GAS })
    }
    await sleep(PAUSE_MS)
  }
  return judge(nodes, { ...labels, seed, ...counts })
}

const judge = async (nodes: readonly NodeOfMany[], fields: object): Promise<boolean> => {
  const [first] = nodes as [NodeOfMany]
  const head = await first.number()
  let [transactions, gas, most] = [0, 0, 0]
  for (let number = 1; number <= head; number++) {
    const block = await first.rpc<{ gasUsed: string; transactions: readonly string[] }>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      false,
    )
    transactions += block.transactions.length
    gas += Number(block.gasUsed)
    most = Math.max(most, block.transactions.length)
  }
  const compiled = await Promise.all(
    nodes.map(async ({ ready }) => [...(await scrape(ready.metrics))].filter(([name]) => name.startsWith('evm_'))),
  )
  const fork = await forkOf(nodes)
  const difference = first.log.includes('shadow execution differs')
  print('shadow', {
    ...{ ...fields, blocks: head, transactions, mostInBlock: most, megagas: Math.round(gas / 1e6), fork, difference },
    evm: compiled.map(list => Object.fromEntries(list)),
  })
  return fork === null && !difference
}
