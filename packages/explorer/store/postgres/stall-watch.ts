import type { PoolClient } from 'pg'

interface StallWatchOptions {
  /** Silence after which the connection is looked at. */
  readonly silenceMs: number
  /** Returns whether the database is at work for this connection; left out: a silent connection is never waited for. */
  readonly isWorking?: (client: PoolClient) => Promise<boolean>
}

/** Looks at a silent connection that find nobody at work before it is ended: one may come between two statements. */
const IDLE_LOOKS = 2

/** Ends a connection that hangs: it would otherwise keep its query, and the queries behind it, for ever. */
export class StallWatch {
  readonly #client: PoolClient
  readonly #options: StallWatchOptions

  constructor(client: PoolClient, options: StallWatchOptions) {
    this.#client = client
    this.#options = options
  }

  /** Runs one exchange with the database; ends the connection when nothing will come of it, which fails the exchange. */
  async run<T>(exchange: () => Promise<T>): Promise<T> {
    const { silenceMs } = this.#options
    let timer: NodeJS.Timeout | undefined
    let idleLooks = 0
    let isOver = false
    let isStalled = false
    const watch = (): void => {
      timer = setTimeout(() => void look(), silenceMs)
    }
    const look = async (): Promise<void> => {
      const isWorking = (await this.#options.isWorking?.(this.#client).catch(() => undefined)) ?? undefined
      if (isOver) return
      idleLooks = isWorking === true ? 0 : idleLooks + 1
      if (isWorking !== undefined && idleLooks < IDLE_LOOKS) watch()
      else {
        isStalled = true
        void this.#client.end()
      }
    }
    watch()
    try {
      return await exchange()
    } catch (error) {
      if (!isStalled) throw error
      throw new Error('Connection terminated: the database does not answer', { cause: error })
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }
}
