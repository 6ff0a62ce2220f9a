import type { Socket } from 'node:net'
import type { ClientBudget, Meter } from '../../../util/client-budget.ts'
import { clientIdOf } from './client-id.ts'
import type { Clients } from './clients.ts'

/**
 * Counts a connection against its client; one too many is closed at once, without a response. A trusted proxy speaks for many clients, so
 * its connections are not counted.
 */
export const admit = (socket: Socket, clients: Clients, connections: ClientBudget): boolean => {
  if (clients.isProxy(socket.remoteAddress)) return true
  const meter = connections.meter(clientIdOf(socket.remoteAddress))
  if (!meter.hold(1)) {
    socket.destroy()
    return false
  }
  socket.once('close', () => meter.hold(0))
  return true
}

/** Meter of the bytes of a connection that wait to be parsed; undefined for that of a trusted proxy. */
export const waitingMeter = (socket: Socket, clients: Clients, bodies: ClientBudget): Meter | undefined =>
  clients.isProxy(socket.remoteAddress) ? undefined : bodies.meter(clientIdOf(socket.remoteAddress))
