// The page's own server.

/** The server cannot be reached. */
export class Offline extends Error {}

/** The server refused; the message is a sentence for the person. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function getNews(spreadsheet, since) {
  const query = new URLSearchParams({ spreadsheet, since });
  return answerOf(fetch(`api/sheet?${query}`, { cache: "no-store" }));
}

export async function post(route, body) {
  return answerOf(
    fetch(`api/${route}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
}

async function answerOf(pending) {
  let response;
  let body;
  try {
    response = await pending;
    if (response.status === 204) return null;
    body = await response.json();
  } catch {
    throw new Offline("The simulator does not answer.");
  }
  if (!response.ok) throw new Refused(body?.error?.message ?? `HTTP ${response.status}`, response.status);
  return body;
}
