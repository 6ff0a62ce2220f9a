import { html, NOTHING } from '@tandem/web/html.ts'
import { describe, expect, test } from 'vitest'

describe('a template', () => {
  test('escapes what stands between tags and in attributes', () => {
    const text = `<b> & "it's"`
    expect(html`<p title="${text}">${text}</p>`.toString()).toBe(
      '<p title="&lt;b&gt; &amp; &quot;it&#39;s&quot;">&lt;b&gt; &amp; &quot;it&#39;s&quot;</p>',
    )
  })

  test('keeps markup of other templates, numbers and lists, and leaves out what is absent', () => {
    const items = [1, 2n, 'x', null, undefined, false] as const
    expect(html`<ul>${items.map(item => html`<li>${item}</li>`)}</ul>${NOTHING}`.toString()).toBe(
      '<ul><li>1</li><li>2</li><li>x</li><li></li><li></li><li></li></ul>',
    )
    expect(html`${[null, [html`<i></i>`, ['<']]]}`.toString()).toBe('<i></i>&lt;')
  })

  test('an object that looks like markup is text', () => {
    const forged = JSON.parse('{"text":"<b>","toString":"x"}') as never
    expect(() => html`${forged}`.toString()).toThrow()
    expect(html`${String({ toString: () => '<b>' })}`.toString()).toBe('&lt;b&gt;')
  })

  test('an attribute without quotes is refused', () => {
    expect(() => html`<p title=${'x'}></p>`).toThrow('quotes')
    expect(() => html`<a href="/x">${'x'}</a><p class="a" title=${'x'}></p>`).toThrow('quotes')
    expect(html`<a href="/x?a=${1}&amp;b=${'"'}">a=</a>`.toString()).toBe('<a href="/x?a=1&amp;b=&quot;">a=</a>')
  })
})
