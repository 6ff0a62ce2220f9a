import { CodedError } from '@tandem/base/errors.ts'

/** Thrown as CodedError by a server that will not serve the database, however often it is asked. */
type DatabaseRefused = {
  readonly code: 'DATABASE_REFUSED'
  readonly database: string
  readonly reason: string
  /** Advice to the operator. */
  readonly fix: string
}

/** By the code of the server's error, or its class. */
const FIXES: readonly (readonly [codes: RegExp, fix: (database: string, user: string) => string])[] = [
  [/^3D000$/, (database, user) => `Create it ("createdb -O ${user} ${database}"), or name another`],
  [
    /^28/,
    () => 'Give user and password in its URL (postgres://user:password@host/name), and let pg_hba.conf admit them',
  ],
  [
    /^(42501|3F000)$/,
    (database, user) =>
      `Make it the user's own ("ALTER DATABASE ${database} OWNER TO ${user}"), or give the user CREATE on its schema`,
  ],
  [/^42(P07|P16|703|710|804)$/, () => 'It has tables of another program: name a database of its own'],
  [/^25006$/, () => 'It only answers reads: name the primary server, and this one with --database-read'],
]

/** Error with a fix for a server's refusal of the database of a URL; undefined: it is of another kind. */
export const databaseRefusal = (error: unknown, url: string): CodedError<DatabaseRefused> | undefined => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const found = FIXES.find(([codes]) => codes.test(String(code)))
  if (found === undefined) return undefined
  const { pathname, username } = new URL(url)
  const [database, user] = [decodeURIComponent(pathname.slice(1)), decodeURIComponent(username)]
  const detail = { code: 'DATABASE_REFUSED', database, reason: String(message), fix: found[1](database, user) } as const
  return new CodedError<DatabaseRefused>(detail, { cause: error })
}
