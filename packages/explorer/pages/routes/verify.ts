import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, facts } from '@tandem/web/parts.ts'
import { invalidParameter, notFound } from '../../api/api-error.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import {
  parseIdentifier,
  parseStandardInput,
  type SourceInput,
  singleFileInput,
} from '../../verification/input/standard-input.ts'
import { isRefused } from '../../verification/jobs/verifier.ts'
import { isVerificationRefusal, refuseVerification } from '../../verification/verification-error.ts'
import type {
  ExplorerPageRequest,
  PageContent,
  PageContext,
  PageRedirect,
  PageRoute,
  PageSubmission,
} from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { pathTo, refusalLines, wholeAddress } from '../parts/links.ts'
import { verifyForm } from '../parts/verify-form.ts'

const LEAD =
  'Source code is compiled again and compared with the code on the chain. Verified contracts show their source, their calls by name, and forms to call them.'

const page = (
  { verification, rules }: PageContext,
  values: Readonly<Record<string, string>>,
  problem?: string,
): PageContent => ({
  title: problem === undefined ? 'Verify a contract' : 'Not verified',
  ...(problem !== undefined && { status: 400 }),
  body: html`
${heading('Verify a contract', { lead: LEAD })}
${problem !== undefined && html`<div class="alert" role="alert" id="verify-problem"><strong>Not submitted.</strong>${refusalLines(problem)}</div>`}
${card('Source code', verifyForm(values, verification.verifier.compilers))}
${card('With tools', tools(rules.chainId))}`,
})

const tools = (chainId: number): Html =>
  facts([
    [
      'forge',
      html`<span data-origin="http://localhost"><code>forge verify-contract ADDRESS src/Token.sol:Token --chain ${chainId} --verifier blockscout --verifier-url http://localhost/api --watch</code></span>`,
    ],
    ['hardhat', html`the API of Etherscan at <code>/api</code>, with any key`],
    [
      'By hand',
      html`<code>POST /api/contracts/ADDRESS/verify</code> with standard JSON input: <a href="${pathTo('api')}">API</a>`,
    ],
  ])

const addressFrom = (text: string): Hex => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    throw refuseVerification('INVALID_INPUT', 'An address has 0x and 40 hex digits.')
  return text.toLowerCase() as Hex
}

const inputFrom = (form: URLSearchParams, contract: string): SourceInput => {
  const source = form.get('source') ?? ''
  if (source.trim() === '')
    throw refuseVerification('INVALID_INPUT', 'Paste the source code, or the standard JSON input.')
  if (form.get('format') === 'json') return parseStandardInput(source)
  const runs = form.get('runs')?.trim() || '200'
  if (!/^[0-9]{1,10}$/.test(runs))
    throw refuseVerification('INVALID_INPUT', 'Runs of the optimizer are a whole number.')
  const evmVersion = form.get('evm') ?? ''
  return singleFileInput({
    source: source.replaceAll('\r\n', '\n'),
    name: contract,
    optimizerRuns: form.get('optimizer') === '1' ? Number(runs) : undefined,
    evmVersion: evmVersion === '' ? undefined : evmVersion,
    viaIR: form.get('viair') === '1',
    libraries: {},
  })
}

const argumentsFrom = (text: string): Uint8Array => {
  const digits = text.trim().replace(/^0x/, '')
  if (!/^([0-9a-fA-F]{2})*$/.test(digits))
    throw refuseVerification('INVALID_INPUT', 'Constructor arguments are hex digits, two for each byte.')
  return hexToBytes(`0x${digits}`)
}

const submit = async (context: PageContext, { form, client }: PageSubmission): Promise<PageContent | PageRedirect> => {
  try {
    const contract = (form.get('contract') ?? '').trim()
    const address = addressFrom((form.get('address') ?? '').trim())
    const input = inputFrom(form, contract)
    // Checked again by the compiler's side; here, so that a mistyped name is told at once.
    parseIdentifier(contract, input)
    const submission = {
      address,
      input,
      compiler: form.get('compiler') ?? '',
      contract,
      constructorArguments: argumentsFrom(form.get('arguments') ?? ''),
    }
    return { location: pathTo('verify', await context.verification.verifier.submit(submission, client)) }
  } catch (error) {
    if (!isVerificationRefusal(error)) throw error
    const values = Object.fromEntries(form)
    if ((values['source'] ?? '').length > EXPLORER_LIMITS.contract.formChars) delete values['source']
    return page(context, values, error.detail.message)
  }
}

/** Waits for the compiler by loading itself again; then leads to the source, or says what differs. */
const jobPage = async (
  { verification }: PageContext,
  { params }: ExplorerPageRequest,
): Promise<PageContent | PageRedirect> => {
  const id = params['job'] as string
  if (!/^[0-9a-f]{48}$/.test(id)) throw invalidParameter('job', 'A submission is named by 48 hex digits.')
  const job = verification.verifier.job(id)
  if (job === undefined) throw notFound('There is no such submission: results are kept until the node ends.')
  const { address, result } = job
  if (result === null)
    return {
      title: 'Compiling',
      body: html`${heading('Compiling', { lead: wholeAddress(checksumAddress(address)) })}
${card('Submission', html`<p>The source code is being compiled and compared, one submission after the other. It takes a few seconds.</p>`)}
<p class="note" data-reload="1" role="status">The page is loaded again by itself where scripts run; otherwise reload it in a moment.</p>`,
    }
  if (!isRefused(result)) return { location: `${pathTo('address', address)}?tab=contract` }
  const isCompared = result.code === 'NO_MATCH' || result.code === 'WRONG_ARGUMENTS'
  return {
    title: 'Not verified',
    body: html`${heading('Not verified', { lead: wholeAddress(checksumAddress(address)) })}
<div class="alert" role="alert"><strong>${isCompared ? 'The source code is not the one of this contract, as submitted.' : 'The source code could not be compared with this contract.'}</strong>${refusalLines(result.message)}</div>
<p><a class="button plain" href="${pathTo('verify')}?address=${address}">Submit again</a></p>`,
  }
}

const FIELDS = ['address', 'compiler', 'contract', 'format'] as const

export const verifyPages: readonly PageRoute[] = [
  {
    path: '/verify',
    needsIndex: true,
    render: async (context, { query }) =>
      page(context, Object.fromEntries(FIELDS.map(name => [name, (query[name] ?? '').slice(0, 300)]))),
    submit,
  },
  { path: '/verify/:job', needsIndex: false, render: jobPage },
]
