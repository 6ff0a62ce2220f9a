import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { MaybePromise } from '../../methods/block-reads.ts'
import { type AccessRules, corsFields, originAllowed } from '../clients/access.ts'
import type { ClientIdentity, Clients, RequestOrigin } from '../clients/clients.ts'
import { fieldsText } from './lane-answers.ts'
import { type PlainHead, readPlainHead } from './plain-head.ts'

const HEAD_END = Buffer.from('\r\n\r\n')

/** First request of the waiting bytes. */
export interface LaneRequest {
  /** Begin and end of its body. */
  readonly from: number
  readonly to: number
  /** undefined: its token or key is missing or wrong. */
  readonly identity: ClientIdentity | undefined
  readonly isPreflight: boolean
  /** Lines of the response that let the page read it. */
  readonly cors: string
}

interface LaneHeadOptions extends AccessRules {
  readonly clients: Clients
}

interface KnownHead {
  readonly text: string
  readonly plain: PlainHead
  readonly cors: string
  identity: MaybePromise<ClientIdentity | undefined>
}

/** Reads the heads of the requests of one connection. Clients repeat the same head, so the last one is cached with its client. */
export class LaneHeads {
  readonly #socket: RequestOrigin['socket']
  readonly #options: LaneHeadOptions
  #known: KnownHead | undefined

  constructor(socket: RequestOrigin['socket'], options: LaneHeadOptions) {
    this.#socket = socket
    this.#options = options
  }

  /**
   * Returns the first request, whose body may be incomplete; a promise while its token is verified, after which it is read again;
   * undefined when its head is incomplete or not that of a plain call.
   */
  first(bytes: Buffer): LaneRequest | Promise<unknown> | undefined {
    const end = bytes.indexOf(HEAD_END)
    if (end === -1 || end > RPC_LIMITS.headBytes) return undefined
    const known = this.#head(bytes.toString('latin1', 0, end))
    if (known === undefined) return undefined
    const { identity, plain, cors } = known
    if (identity instanceof Promise) return identity
    const from = end + HEAD_END.byteLength
    return { from, to: from + plain.length, identity, isPreflight: plain.isPreflight, cors }
  }

  /** The first request was taken. A refused token is verified again where it comes again: its time may have come. */
  taken(): void {
    if (this.#known?.identity === undefined) this.#known = undefined
  }

  #head(text: string): KnownHead | undefined {
    const last = this.#known
    if (last?.text === text && isCurrent(last.identity)) return last
    const { hosts, cors, checkOrigin, clients } = this.#options
    const plain = last?.text === text ? last.plain : readPlainHead(text, hosts)
    if (plain === undefined || (checkOrigin && !originAllowed(cors, plain.origin))) return undefined
    const identity = clients.identify({ socket: this.#socket, headers: plain.headers, url: '/' })
    const fields = corsFields(cors, plain.origin, plain.isPreflight)
    const known: KnownHead = { text, plain, cors: fieldsText(fields), identity }
    if (identity instanceof Promise)
      void identity.then(found => {
        known.identity = found
      })
    this.#known = known
    return known
  }
}

/** Returns false for a token that has to be verified again. */
const isCurrent = (identity: KnownHead['identity']): boolean =>
  identity === undefined || identity instanceof Promise || identity.untilMs > Date.now()
