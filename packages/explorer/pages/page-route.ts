import type { Html } from '@tandem/web/html.ts'
import { EXPLORER_PATH, type Site } from '@tandem/web/site.ts'
import type { ApiContext } from '../api/api-route.ts'

/** Path of the parts of the home page that change, for its stream of blocks. */
export const LIVE_PARTS_PATH = `${EXPLORER_PATH}/live/parts`

export interface PageContext extends ApiContext {
  readonly site: Site
}

export interface ExplorerPageRequest {
  /** Path below which it was asked, without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

export interface PageContent {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** Text of the search box. */
  readonly search?: string
}

/** A form that was posted to a page. */
export interface PageSubmission {
  readonly form: URLSearchParams
  /** Client of the request, as limits count clients. */
  readonly client: string
}

/** Sends the client to another page. */
export interface PageRedirect {
  readonly location: string
}

/** A file in place of a page. */
export interface PageFile {
  readonly file: string
  readonly type: string
  readonly text: string
}

/** One page, declared once: its path below /explorer and what it shows. */
export interface PageRoute {
  /** As fastify writes it: /block/:id. */
  readonly path: string
  /** Shows data of the index, and so nothing before the index has come near the head. */
  readonly needsIndex: boolean
  render(context: PageContext, request: ExplorerPageRequest): Promise<PageContent | PageRedirect | PageFile>
  /** Answers a form that is posted to the page. */
  submit?(context: PageContext, submission: PageSubmission): Promise<PageContent | PageRedirect>
}
