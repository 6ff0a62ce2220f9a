/* Everything here is an addition: pages read well without it. */
const root = document.documentElement
root.classList.add('js')

const THEME_KEY = 'theme'
const savedTheme = () => {
  try {
    return localStorage.getItem(THEME_KEY)
  } catch {
    return null
  }
}
const setTheme = theme => {
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
}
setTheme(savedTheme())

const isDark = () =>
  root.dataset.theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : root.dataset.theme === 'dark'

const switchTheme = () => {
  const theme = isDark() ? 'light' : 'dark'
  setTheme(theme)
  try {
    localStorage.setItem(THEME_KEY, theme)
  } catch {
    // The choice lasts for this page.
  }
}

const SHOWN_MS = 1500

const copy = async button => {
  try {
    await navigator.clipboard.writeText(button.dataset.copy)
  } catch {
    const area = document.createElement('textarea')
    area.value = button.dataset.copy
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
  const name = button.getAttribute('aria-label')
  button.dataset.done = ''
  button.setAttribute('aria-label', 'Copied')
  setTimeout(() => {
    delete button.dataset.done
    button.setAttribute('aria-label', name)
  }, SHOWN_MS)
}

/* Ages */
const STEPS = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86400, 3600, 'h'],
  [Number.POSITIVE_INFINITY, 86400, 'd'],
]
const ageOf = seconds => {
  const [, unit, name] = STEPS.find(([below]) => seconds < below)
  return `${Math.floor(seconds / unit)} ${name} ago`
}
const showAges = () => {
  for (const time of document.querySelectorAll('time.age')) {
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time.dateTime)) / 1000))
    const text = ageOf(seconds)
    if (time.textContent !== text) time.textContent = text
  }
}

/* Live lists: the server sends whole lists, written by the templates of the page. */
const replaceList = (list, markup) => {
  const known = new Set([...list.children].map(item => item.dataset.key))
  const next = document.createElement('template')
  next.innerHTML = markup
  for (const item of next.content.children) if (!known.has(item.dataset.key)) item.classList.add('fresh')
  list.replaceChildren(next.content)
}

const REOPEN_MS = 5000

const startLive = button => {
  let stream
  let wanted = true
  const show = state => {
    button.dataset.state = state
    button.textContent = state === 'on' ? 'Live' : wanted ? 'Connecting' : 'Paused'
    button.setAttribute('aria-pressed', String(wanted))
  }
  const close = () => {
    stream?.close()
    stream = undefined
    show('off')
  }
  const take = event => {
    show('on')
    const news = JSON.parse(event.data)
    for (const [name, markup] of Object.entries(news)) {
      const target = document.querySelector(`[data-live="${name}"]`)
      // A list that holds the focus stays as it is until the focus has left it.
      if (target === null || target.contains(document.activeElement)) continue
      if (target.tagName === 'OL') replaceList(target, markup)
      else target.innerHTML = markup
    }
    showAges()
  }
  const open = () => {
    if (!wanted || document.hidden || stream !== undefined) return
    stream = new EventSource(button.dataset.stream)
    stream.addEventListener('open', () => show('on'))
    stream.addEventListener('message', take)
    stream.addEventListener('error', () => {
      show('off')
      // A refusal ends a stream for good.
      if (stream?.readyState !== EventSource.CLOSED) return
      close()
      setTimeout(open, REOPEN_MS)
    })
  }
  button.addEventListener('click', () => {
    wanted = !wanted
    if (wanted) open()
    else close()
    show(wanted ? 'on' : 'off')
  })
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))
  addEventListener('pagehide', close)
  show('off')
  open()
}

const RELOAD_MS = 2000

addEventListener('DOMContentLoaded', () => {
  document.querySelector('button.theme')?.addEventListener('click', switchTheme)
  document.addEventListener('click', event => {
    const button = event.target.closest('button[data-copy]')
    if (button) void copy(button)
  })
  document.addEventListener('keydown', event => {
    const isTyping = event.target.closest('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    document.querySelector('#q')?.focus()
  })
  // A page is also read through proxies: what it says of its own address is the one of this browser.
  for (const place of document.querySelectorAll('[data-origin]')) {
    const from = place.dataset.origin
    const to = location.origin
    // `ws://` follows `http://`, and `wss://` follows `https://`.
    const here = text => text.replaceAll(from, to).replaceAll(from.replace('http', 'ws'), to.replace('http', 'ws'))
    for (const code of place.querySelectorAll('code')) code.textContent = here(code.textContent)
    for (const button of place.querySelectorAll('[data-copy]')) button.dataset.copy = here(button.dataset.copy)
  }
  const live = document.querySelector('button.live')
  if (live) startLive(live)
  if (document.querySelector('[data-reload]')) setTimeout(() => location.reload(), RELOAD_MS)
  showAges()
  setInterval(showAges, 1000)
})
