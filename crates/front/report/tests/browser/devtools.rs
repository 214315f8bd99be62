//! The parts of the Chrome DevTools Protocol that the tests need, over pipes: JSON messages, each
//! ended by a zero byte; the browser reads file descriptor 3 and writes 4.
//! <https://chromedevtools.github.io/devtools-protocol/>

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;

/// A silent browser has hung.
const PATIENCE: Duration = Duration::from_secs(60);
/// Moves the pipes to the browser's descriptors.
const MOVE_PIPES: &str = "exec 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null; exec chromium \"$@\"";
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
];

/// A page in its own browser.
pub struct Page {
    browser: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// Browser's profile.
    _user_data: TempDir,
    /// Page's unsolicited messages: console messages, exceptions, requests.
    pub events: Vec<Value>,
}

impl Page {
    /// Starts a browser with its own profile folder and opens an empty page; `None` without a
    /// browser.
    pub fn open(width: u32, height: u32) -> Option<Page> {
        if !seatmap_needs::tool("chromium") {
            return None;
        }
        let user_data = tempfile::tempdir().expect("a folder");
        let folder = format!("--user-data-dir={}", user_data.path().display());
        let mut browser = Command::new("sh")
            .args(["-c", MOVE_PIPES, "sh"])
            .args(FLAGS)
            .arg(folder)
            // A killed browser leaves its sockets behind, here deleted with the profile.
            .env("TMPDIR", user_data.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let commands = browser.stdin.take().expect("piped");
        let answers = BufReader::new(browser.stdout.take().expect("piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { break };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut page = Page {
            browser,
            commands,
            messages,
            session: None,
            last_id: 0,
            _user_data: user_data,
            events: Vec::new(),
        };
        page.attach();
        page.resize(width, height);
        Some(page)
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false
            }),
        );
    }

    fn attach(&mut self) {
        let target =
            self.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session =
            self.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        self.session = session["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Sends a command and returns its result; stores other messages in `events`.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        write!(self.commands, "{command}\0").expect("the browser listens");
        loop {
            let message = self.next();
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the browser answers")
    }

    /// Opens a page of this name and waits until it is loaded.
    pub fn show(&mut self, name: &str, text: &str) {
        let file = in_target(&format!("{name}.html"));
        std::fs::write(&file, text).expect("the target folder can be written");
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    pub fn eval(&mut self, expression: &str) -> Value {
        let result = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    /// The visible text of an element.
    pub fn text(&mut self, selector: &str) -> String {
        self.eval(&format!("document.querySelector({selector:?}).innerText"))
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub fn hover(&mut self, (x, y): (f64, f64)) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    pub fn click(&mut self, (x, y): (f64, f64)) {
        self.hover((x, y));
        for kind in ["mousePressed", "mouseReleased"] {
            let button = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", button);
        }
    }

    /// The centre of an element, for the pointer.
    pub fn middle_of(&mut self, selector: &str) -> (f64, f64) {
        let script = format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'nearest'}});
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] }})()"
        );
        let at = self.eval(&script);
        (at[0].as_f64().expect("x"), at[1].as_f64().expect("y"))
    }

    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Writes the whole page as PNG.
    pub fn screenshot(&mut self, name: &str) {
        let shot = self.call("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
        let bytes = from_base64(shot["data"].as_str().expect("a picture"));
        std::fs::write(in_target(&format!("{name}.png")), bytes)
            .expect("the target folder can be written");
    }
}

fn in_target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

impl Drop for Page {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    let mut bits = 0u32;
    let mut held = 0;
    for value in text.bytes().filter_map(digit) {
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
