//! A plugin written with Extism's PDK for Rust, as its authors would write one.

use extism_pdk::*;

/// Puts out its input.
#[plugin_fn]
pub fn echo(input: Vec<u8>) -> FnResult<Vec<u8>> {
    Ok(input)
}

/// Puts out its input in upper case.
#[plugin_fn]
pub fn shout(input: String) -> FnResult<String> {
    Ok(input.to_uppercase())
}

/// Greets whom it is given, in the words of its config.
#[plugin_fn]
pub fn greet(name: String) -> FnResult<String> {
    let greeting = config::get("greeting")?.unwrap_or_else(|| "hello".to_string());
    Ok(format!("{greeting}, {name}"))
}

/// Counts in a var how often it was called.
#[plugin_fn]
pub fn count(_: ()) -> FnResult<String> {
    let calls: String = var::get("calls")?.unwrap_or_else(|| "0".to_string());
    let calls: u32 = calls.parse()?;
    var::set("calls", (calls + 1).to_string())?;
    let calls: Option<String> = var::get("calls")?;
    Ok(calls.unwrap_or_default())
}

/// Sets a var and removes it.
#[plugin_fn]
pub fn forget(_: ()) -> FnResult<String> {
    var::set("secret", "a secret")?;
    var::remove("secret")?;
    let left: Option<String> = var::get("secret")?;
    Ok(left.unwrap_or_else(|| "forgotten".to_string()))
}

/// Logs its input at every level.
#[plugin_fn]
pub fn logs(text: String) -> FnResult<()> {
    trace!("{}", text);
    debug!("{}", text);
    info!("{}", text);
    warn!("{}", text);
    error!("{}", text);
    Ok(())
}

/// Fails, and says why.
#[plugin_fn]
pub fn fails(text: String) -> FnResult<String> {
    Err(WithReturnCode::new(Error::msg(format!("cannot do {text}")), 3))
}

/// Puts out what a page says.
#[plugin_fn]
pub fn fetch(url: String) -> FnResult<Vec<u8>> {
    let response = http::request::<()>(&HttpRequest::new(url), None)?;
    Ok(response.body())
}

/// Panics.
#[plugin_fn]
pub fn panics(_: ()) -> FnResult<()> {
    panic!("no such thing");
}
