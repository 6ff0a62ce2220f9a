import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { admit } from '../clients/connection-limit.ts'
import { Lane, type LaneOptions } from './lane.ts'

/**
 * Handles plain calls on a connection, and the preflights of browsers, at a third of the cost of the HTTP server. The first request that is
 * anything else (a GET, an upgrade, chunks, an origin that is refused, a wrong type) hands the connection to the server, so that those
 * rules exist in one place.
 */
export const attachFastLane = (server: Server, options: LaneOptions): { close(): void } => {
  const [listener] = server.listeners('connection') as ((socket: Socket) => void)[]
  if (listener === undefined) return { close() {} }
  const open = new Set<Lane>()
  server.removeListener('connection', listener)
  server.on('connection', (socket: Socket) => {
    if (!admit(socket, options.clients, options.budgets.connections)) return
    const lane = new Lane(socket, options, {
      handOver: () => listener.call(server, socket),
      left: () => open.delete(lane),
    })
    open.add(lane)
  })
  return {
    close() {
      for (const lane of open) lane.destroy()
    },
  }
}
