import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/* Requests at a fixed rate over connections of many loopback addresses, each kept alive; counts the statuses of the answers. */

const { url, clients, perSecond, requests } = workerData as {
  readonly url: string
  readonly clients: number
  readonly perSecond: number
  readonly requests: readonly string[]
}
const { hostname, port } = new URL(url)
const TICK_MS = 10
const counts: Record<string, number> = {}
const sockets: (Socket | undefined)[] = Array.from({ length: clients })
let isOver = false

const open = (at: number): void => {
  const localAddress = `127.0.${1 + Math.floor(at / 250)}.${1 + (at % 250)}`
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  socket.on('error', () => {
    counts['lost'] = (counts['lost'] ?? 0) + 1
  })
  socket.on('data', data => {
    for (const [, status = ''] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g))
      counts[status] = (counts[status] ?? 0) + 1
  })
  socket.on('close', () => {
    if (!isOver) setTimeout(() => open(at), TICK_MS)
  })
  sockets[at] = socket
}
for (let at = 0; at < clients; at++) open(at)

let sent = 0
const began = performance.now()
const timer = setInterval(() => {
  for (const due = ((performance.now() - began) / 1_000) * perSecond; sent < due; sent++) {
    const socket = sockets[sent % clients]
    if (socket?.writable) socket.write(requests[sent % requests.length] as string)
  }
}, TICK_MS)

parentPort?.once('message', () => {
  isOver = true
  clearInterval(timer)
  for (const socket of sockets) socket?.destroy()
  const seconds = (performance.now() - began) / 1_000
  const perSecondOf = Object.entries(counts).map(([status, count]) => [status, Math.round(count / seconds)])
  parentPort?.postMessage({ sent: Math.round(sent / seconds), ...Object.fromEntries(perSecondOf) })
  parentPort?.close()
})
