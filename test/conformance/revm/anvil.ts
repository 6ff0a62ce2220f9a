import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { eventually } from '../../support/node-process.ts'

/* anvil, whose EVM is revm: a program of others that shares nothing with this node or with EthereumJS. */

export interface RpcResponse {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

export interface RpcRequest {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface Anvil {
  /** Responses in the order of the requests. */
  batch(requests: readonly RpcRequest[]): Promise<readonly RpcResponse[]>
  /** Hash of a block of its chain that BLOCKHASH of the next one can see. */
  blockHash(number: number): Hex
  stop(): Promise<void>
}

const post = async (url: string, requests: readonly RpcRequest[]): Promise<readonly RpcResponse[]> => {
  const body = JSON.stringify(requests.map((request, id) => ({ jsonrpc: '2.0', id, ...request })))
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const answers = JSON.parse(await response.text()) as readonly RpcResponse[]
  if (!Array.isArray(answers)) throw new Error(`anvil refuses ${body.length} bytes: ${JSON.stringify(answers)}`)
  return [...answers].sort((a, b) => a.id - b.id)
}

const listeningUrl = async (child: ChildProcess): Promise<string> => {
  let text = ''
  child.stdout?.on('data', data => {
    text += String(data)
  })
  const address = await eventually('anvil', async () => /Listening on (\S+)/.exec(text)?.[1])
  return `http://${address}`
}

/** Numbers of the last 256 blocks before one. */
const recentNumbers = (number: number): readonly number[] => Array.from({ length: 256 }, (_, i) => number - 1 - i)

/** Starts anvil at a fork, its head one before the block in which messages will run. */
export const startAnvil = async (binary: string, fork: EvmFork, number: number): Promise<Anvil> => {
  const args = ['--port', '0', '--hardfork', fork.toLowerCase(), '--chain-id', '1', '--no-mining', '--timestamp', '1']
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGINT')
    await exit
  }
  try {
    const url = await listeningUrl(child)
    const mine = { method: 'anvil_mine', params: [toQuantity(number - 1), '0x1'] }
    const blocks = recentNumbers(number).map(at => ({
      method: 'eth_getBlockByNumber',
      params: [toQuantity(at), false],
    }))
    await post(url, [mine])
    const found = await post(url, blocks)
    const hashes = new Map(
      recentNumbers(number).map((at, i) => [at, (found[i] as { result: { hash: Hex } }).result.hash]),
    )
    return {
      stop,
      batch: requests => post(url, requests),
      blockHash: at => hashes.get(at) ?? `0x${'00'.repeat(32)}`,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
