/* Apart and small, so that a node loads the rest of the pages with the first request for one. */

/** Header of a request as Node.js gives it; one that came more than once names nothing. */
export type HeaderValue = string | readonly string[] | undefined

/** Path of style sheet, script and icon. */
export const ASSETS_PATH = '/assets'

/** Returns true when a header such as Accept names a value, and does not refuse it with q=0. */
const names = (header: HeaderValue, wanted: string): boolean =>
  (typeof header === 'string' ? header : '').split(',').some(item => {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim().toLowerCase())
    return (
      name === wanted && !parameters.some(parameter => parameter.startsWith('q=') && !(Number(parameter.slice(2)) > 0))
    )
  })

export const acceptsGzip = (acceptEncoding: HeaderValue): boolean => names(acceptEncoding, 'gzip')

/** Returns true when a client asks for a page: browsers name text/html, scripts and load balancers do not. */
export const wantsPage = (accept: HeaderValue): boolean => names(accept, 'text/html')
