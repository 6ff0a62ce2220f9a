import type { ServerResponse } from 'node:http'

/** Ends the connection of a response, also of one that has not its turn on it: that has no socket of its own to end. */
export const endConnection = (response: ServerResponse): void => {
  response.destroy()
  response.req.socket.destroy()
}
