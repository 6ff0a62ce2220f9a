import { STATUS_CODES } from 'node:http'
import { VERBS } from '../clients/access.ts'
import { BODIES_FULL } from '../clients/budgets.ts'
import type { ClientRefusal } from '../clients/clients.ts'

/* Heads of the fast lane's responses. `cors` holds the lines that let a page read the response (access.ts). */

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: keep-alive\r\n'

/** Last chunk of a streamed response (RFC 9112 7.1). */
export const LAST_CHUNK = '0\r\n\r\n'

export const fieldsText = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** Response with a body of known length. */
export const frame = (body: string, cors: string): string =>
  `${OK}${cors}content-length: ${Buffer.byteLength(body)}\r\n${date()}\r\n\r\n${body}`

/** Head of a response in chunks. */
export const chunkedHead = (cors: string): string => `${OK}${cors}transfer-encoding: chunked\r\n${date()}\r\n\r\n`

/** Answer to OPTIONS. */
export const preflightText = (cors: string): string =>
  `HTTP/1.1 204 No Content\r\nallow: ${VERBS}\r\n${cors}connection: keep-alive\r\n${date()}\r\n\r\n`

export const refusalText = ({ status, headers, text }: ClientRefusal, cors: string): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: text/plain\r\n${fieldsText(headers)}${cors}connection: keep-alive\r\ncontent-length: ${text.length}\r\n${date()}\r\n\r\n${text}`

/** The call took too long; the connection ends. */
export const timeoutText = (cors: string): string => unavailable('timeout', cors)

/** The client has no room for the body; the connection ends. */
export const noRoomText = (cors: string): string => unavailable(`${BODIES_FULL}\n`, `${cors}retry-after: 1\r\n`)

const unavailable = (text: string, fields: string): string =>
  `HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n${fields}connection: close\r\ncontent-length: ${text.length}\r\n\r\n${text}`

let dateLine = ''
let dateSecond = -1

/** Date header (RFC 9110 6.6.1), updated once a second. */
const date = (): string => {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== dateSecond) {
    dateSecond = second
    dateLine = `date: ${new Date(second * 1_000).toUTCString()}`
  }
  return dateLine
}
