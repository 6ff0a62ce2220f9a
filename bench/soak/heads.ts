import { parentPort, workerData } from 'node:worker_threads'
import WebSocket from 'ws'

/*
 * Hears every new block in a thread of its own, so that the load's own work does not delay the clock. On any message it answers with
 * the milliseconds between blocks so far.
 */
const socket = new WebSocket((workerData as { readonly url: string }).url)
const intervals: number[] = []
let last: number | undefined
socket.once('open', () => socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'))
socket.on('message', data => {
  if (!String(data).includes('eth_subscription')) return
  const now = performance.now()
  if (last !== undefined) intervals.push(now - last)
  last = now
})
socket.on('error', error => {
  throw error
})
parentPort?.on('message', () => parentPort?.postMessage(intervals))
