import { Option } from 'commander'
import { integerOption, listOption } from './options.ts'

export interface ProxyFlags {
  readonly trustProxy?: number | readonly string[]
  readonly proxyHeader: 'x-forwarded-for' | 'forwarded'
}

/** A number of proxies, or a list of their addresses. */
const trustProxyOption = (text: string): number | readonly string[] =>
  /^\d+$/.test(text) ? integerOption(1, 10)(text) : listOption(text)

/** Options of a server behind proxies; `proxies` names them in the help. */
export const proxyOptions = (proxies: string): readonly Option[] => [
  new Option(
    '--trust-proxy <proxies>',
    `${proxies}: how many, or their comma-separated addresses and subnets (loopback, 10.0.0.0/8)`,
  ).argParser(trustProxyOption),
  new Option('--proxy-header <name>', 'the header in which these proxies name the client')
    .choices(['x-forwarded-for', 'forwarded'])
    .default('x-forwarded-for'),
]
